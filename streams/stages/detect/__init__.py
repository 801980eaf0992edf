"""The detect stage: from telemetry of one job to detections and vitals.

repeats    drop what was seen before
arrival    the short way of a frame that only has to be put to its step
attempt    its start, and what it takes over from the one before
rewound    a run that has begun anew under the number of the attempt that is known
left_over  what still comes of an attempt that is over
reconfigured  what an announced change makes of what was learned
announced  what the launcher says of the loader and of what is planned to change
participants  who takes part: ranks, nodes, GPUs, peer groups
align      frames of all nodes meet at their step; steps close in order
phases     legitimate phases and the time they explain
derive     a closed step becomes the signals of the job and of each rank
series     level shifts, spikes, limits and non-finite values of the job's signals
utilisation  how well the GPUs are used
mixture    the data against their recipe
peers      the slow rank among its peers
saves      checkpoint pauses
beside_saves  steps that are slow because a save is written beside them
learned    what is normal for them
counts     errors that are counted
exhaustion  what runs out
samples    what GPUs, nodes and mounts report between the steps
freezing   nothing is learned while anything is wrong
progress   steps that no longer come
silence    sources that no longer speak
episodes   alarms become detections: raised, revised, ended
"""
