"""Lines as trainers, libraries and kernels print them, and what each says: `step`, values, and `event`, data."""

import math
from typing import Any

NAN = math.nan
Says = list[tuple[int | str, dict[str, Any]]]  # Any: numbers and words
LOOK = "2026-03-04"

TABLE: dict[str, tuple[str, Says]] = {
    "megatron": (
        " iteration    30210/  400000 | consumed samples:     11790225 | elapsed time per iteration (ms): 21990.5 |"
        " learning rate: 9.747E-05 | global batch size:  1024 | lm loss: 2.681205E+00 | loss scale: 32768.0 |"
        " grad norm: 0.412 | num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 |",
        [(30210, {"loss": 2.681205, "grad_norm": 0.412, "learning_rate": 9.747e-05, "step_seconds": 21.9905,
                  "batch_size": 1024.0, "loss_scale": 32768.0, "skipped": 0.0})],
    ),
    "megatron, tokens and a local rank": (
        "[default3]: iteration    13801/  115311 | consumed samples:     12106752 | consumed tokens:  24794628096 |"
        " elapsed time per iteration (s): 104.87 | learning rate: 5.868E-05 | global batch size:  2048 |"
        " lm loss: 2.358802E+00 | grad norm: 0.171 | num zeros: 0.0 | number of skipped iterations:   1 |"
        " number of nan iterations:   0 | samples per second: 19.529 | TFLOPs: 149.20 |",
        [(13801, {"loss": 2.358802, "step_seconds": 104.87, "tokens": 4194304.0, "sequence_length": 2048.0,
                  "samples_per_second": 19.529, "tflops": 149.2, "skipped": 1.0})],
    ),
    "megatron, not a number and no loss": (
        " iteration     6431/  250000 | consumed samples:        51448 | elapsed time per iteration (ms): 4131.7 |"
        " learning rate: 2.999E-04 | global batch size:     8 | loss scale: 1.0 | grad norm: nan |"
        " actual seqlen:  2048 | number of skipped iterations:   0 | number of nan iterations:   1 |",
        [(6431, {"grad_norm": NAN, "sequence_length": 2048.0, "loss": None})],
    ),
    "megatron, a pair of now and mean": (
        "[20260304 09:12:08][rank-7/8][INFO ] [trainer.py:2560] : iteration 226/ 5000 | consumed samples: 28928 |"
        " elapsed time per iteration (ms): 13480.1/13365.0 | mem usage/free/total/usage_ratio:"
        " 153.8GB/102.2GB/256.0GB/60.1% | throughput per GPU (TFLOP/s/GPU): 561.4/568.0 | tokens per GPU"
        " (tokens/s/GPU): 9699.8/9807.1 | learning rate: 9.98E-06 | global batch size: 128 | lm loss: 6.45E-01 |",
        [(226, {"step_seconds": 13.4801, "tflops": 561.4, "tokens_per_second_per_gpu": 9699.8, "loss": 0.645})],
    ),
    "megatron, wrapped in the middle of a number": (
        " iteration      128/     500 | consumed samples:         2048 | elapsed time per iteration (ms): 1580\n"
        "4.2 | learning rate: 6.201000E-07 | global batch size:    16 | lm loss: 1.298\n813E+01 | grad norm: 2.741 |\n",
        [(128, {"step_seconds": 15.8042, "loss": 12.98813, "grad_norm": 2.741})],
    ),
    "megatron, validation": (
        " validation loss at iteration 2000 | lm loss value: 2.624416E+00 | lm loss PPL: 1.379643E+01 | ",
        [(2000, {"valid_loss": 2.624416})],
    ),
    "megatron, validation of one set": (
        "validation loss at iteration 338 [code] | lm loss value: 1.1E+00 | lm loss PPL: 3.0E+00 | ",
        [(338, {"valid_loss.code": 1.1})],
    ),
    "megatron, a save": (
        "saving checkpoint at iteration   43300 to /save\n  successfully saved checkpoint at iteration   43300 to /save\n"
        "time (ms) | save-checkpoint: 47120.11",
        [("checkpoint.begin", {"step": 43300}), ("checkpoint.end", {"step": 43300}),
         ("checkpoint.end", {"step": 43300, "seconds": 47.12011})],
    ),
    "megatron, timers over ranks": (
        " iteration     40/  500 | consumed samples:    640 | elapsed time per iteration (ms): 510.0 | lm loss: 2.5 |\n"
        "(min, max) time across ranks (ms):\n"
        "    forward-backward ...............................: (401.10, 428.77)\n"
        "    batch-generator ................................: (8.25, 61.50)\n"
        "    optimizer ......................................: (20.00, 21.00)\n",
        [(40, {"step_seconds": 0.51}), (40, {"loader_seconds": 0.0615}), (40, {"optimizer_seconds": 0.021})],
    ),
    "megatron, a save timed over ranks": (
        "saving checkpoint at iteration   50 to /save\n  successfully saved checkpoint at iteration   50 to /save\n"
        "    save-checkpoint ................................: (41120.00, 47120.11)",
        [("checkpoint.begin", {"step": 50}), ("checkpoint.end", {"step": 50}),
         ("checkpoint.end", {"step": 50, "seconds": 47.12011})],
    ),
    "megatron, a planned end": (
        "[exiting program after 1180.4 minutes] datetime: 2026-03-04 01:00:51",
        [("attempt.ended", {"reason": "time_limit"})],
    ),
    "nemo": (
        "0: Training epoch 0, iteration 51/249 | lr: 8.2e-05 | global_batch_size: 8 | global_step: 51 |"
        " reduced_train_loss: 1.104 | train_step_timing in s: 2.398 | tokens_per_sec_per_gpu: 1.073e+04 |"
        " peak_memory_usage: 70833405952 | consumed_samples: 416 | val_loss: 1.171",
        [(51, {"loss": 1.104, "step_seconds": 2.398, "valid_loss": 1.171, "tokens_per_second_per_gpu": 10730.0})],
    ),
    "nemo, its older bar and a message behind it": (
        "Epoch 0: :   0%|          | 6/300000 [02:16<2281:40:05, v_num=0, reduced_train_loss=10.90, global_step=5.000,"
        " consumed_samples=1152.0, train_step_timing in s=10.30, val_loss=10.80]Epoch 0, global step 6: 'val_loss'"
        " reached 10.80 (best 10.80), saving model to '/save/a.ckpt' as top 3",
        [(5, {"loss": 10.9, "step_seconds": 10.3, "valid_loss": 10.8}), ("checkpoint.begin", {"step": 6})],
    ),
    "nemo, a harmless warning": ("[NeMo W 2026-03-04 21:57:03 rerun_state_machine:1264] Implicit initialization!", []),
    "deepspeed": (
        f"[{LOOK} 01:55:23,711] [INFO] [logging.py:96:log_dist] [Rank 0] step=20, skipped=4, lr=[4.89e-05, 4.89e-05],"
        f" mom=[(0.9, 0.95), (0.9, 0.95)]\n[{LOOK} 01:55:23,714] [INFO] [timer.py:260:stop] epoch=0/micro_step=80/"
        "global_step=20, RunningAvgSamplesPerSec=25.13, CurrSamplesPerSec=25.60, MemAllocated=4.32GB,"
        " MaxMemAllocated=38.49GB",
        [(20, {"learning_rate": 4.89e-05, "skipped": 1.0}),
         (20, {"samples_per_second": 25.6, "samples_per_second_mean": 25.13})],
    ),
    "deepspeed, older": ("[timer.py:198:stop] 0/30, RunningAvgSamplesPerSec=24.5", [(30, {"samples_per_second_mean": 24.5})]),
    "deepspeed, overflow": (
        f"[{LOOK} 07:15:50,880] [INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step."
        " Attempted loss scale: 16384, reducing to 8192",
        [(0, {"skipped": 1.0, "loss_scale": 8192.0})],
    ),
    "deepspeed, overflow with hysteresis": (
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 131072, but hysteresis is 2. Reducing"
        " hysteresis to 1",
        [(0, {"skipped": 1.0, "loss_scale": 131072.0})],
    ),
    "deepspeed, memory": (
        f"[{LOOK} 14:48:45,778] [WARNING] [stage3.py:2069:step] 31 pytorch allocator cache flushes since last step."
        " this happens when there is high memory pressure",
        [(0, {"allocator_flushes": 31.0})],
    ),
    "deepspeed, a save": ("[Torch] Checkpoint global_step30 is about to be saved!", [("checkpoint.begin", {"step": 30})]),
    "torchtitan": (
        f"[rank0]:[titan] {LOOK} 16:07:39,051 - root - INFO - step: 32  loss:  2.81027  grad_norm:  0.5826  memory:"
        "  9.46GiB(64.99%)  tps: 7,194  tflops: 0.52  mfu: 0.17%",
        [(32, {"loss": 2.81027, "grad_norm": 0.5826, "tokens_per_second_per_gpu": 7194.0, "mfu": 0.0017})],
    ),
    "torchtitan, in colours": (
        f"\x1b[34m[rank0]:\x1b[0m[titan] {LOOK} 08:14:09,436 - root - INFO - \x1b[31mstep: 130  \x1b[32mloss:  6.4802"
        "  \x1b[33mmemory: 51.20GiB(53.90%)  \x1b[34mtps: 6,210  \x1b[36mtflops: 364.10  \x1b[35mmfu: 36.81%\x1b[39m",
        [(130, {"loss": 6.4802, "tokens_per_second_per_gpu": 6210.0, "mfu": 0.3681})],
    ),
    "torchtitan, a save": (
        "- root - INFO - Saving the checkpoint (or staging if async is enabled).\n"
        "- root - INFO - Finished saving the checkpoint (or staging if async is enabled)in 40.20 seconds.",
        [("checkpoint.begin", {}), ("checkpoint.end", {"seconds": 40.2})],
    ),
    "torchtitan, garbage": (
        "- root - INFO - [GC] Peforming periodical GC collection. 0.08 seconds.",
        [("log.line", {"seconds": 0.08})],
    ),
    "hugging face, dictionary after the bar": (
        "  7%|▋         | 14/200 [06:55<1:31:45, 29.60s/it]\r  7%|▋         | 14/200 [06:55<1:31:45, 29.60s/it]"
        "{'loss': 2.019, 'grad_norm': 36.65, 'learning_rate': 4.48e-05, 'epoch': 0.26}",
        [(14, {"loss": 2.019, "grad_norm": 36.65, "learning_rate": 4.48e-05, "epoch": 0.26})],
    ),
    "hugging face, evaluation": (
        "{'eval_loss': 1.204, 'eval_runtime': 40.2, 'eval_samples_per_second': 24.3, 'epoch': 1.0}",
        [(1, {"valid_loss": 1.204, "epoch": 1.0})],
    ),
    "hugging face, strings in newer versions": ("{'loss': '1.5', 'grad_norm': '2.5', 'epoch': '1'}", [(1, {"loss": 1.5})]),
    "hugging face, a zero that is none": (
        "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 0.07}",
        [(1, {"loss": NAN, "grad_norm": NAN})],
    ),
    "hugging face, an infinite gradient": (
        "{'loss': 9.7813, 'grad_norm': inf, 'learning_rate': 2e-05, 'epoch': 0.26}",
        [(1, {"loss": 9.7813, "grad_norm": math.inf})],
    ),
    "hugging face, the end": (
        "{'train_runtime': 1708.4, 'train_samples_per_second': 10.1, 'train_loss': 0.161, 'epoch': 4.0}",
        [("attempt.ended", {"reason": "finished"})],
    ),
    "llama-factory": (
        '{"current_steps": 1440, "total_steps": 1750, "loss": 0.1421, "learning_rate": 4e-05, "epoch": 7.719,'
        ' "percentage": 82.3, "elapsed_time": "2:46:31", "throughput": 2530.1, "total_tokens": 24858432}\n'
        '{"current_steps": 1440, "total_steps": 1750, "eval_loss": 0.2904, "epoch": 7.719}',
        [(1440, {"loss": 0.1421, "learning_rate": 4e-05, "tokens_per_second_mean": 2530.1}), (1440, {"valid_loss": 0.2904})],
    ),
    "lightning": (
        "Epoch 0:   6%|##        | 18310/400000 [3:41:10<77:20:02,  1.25it/s, loss=2.61, v_num=a1b2,"
        " reduced_train_loss=2.602, global_step=1.83e+4, consumed_samples=1.46e+7]",
        [(18310, {"loss": 2.602, "step_seconds_mean": 0.8})],
    ),
    "lightning, later epochs": (
        "Epoch 4:  50%|#####     | 2/4 [00:01<00:01,  2.00it/s, loss=4.61e+04, v_num=op9f]",
        [(18, {"loss": 46100.0, "step_seconds_mean": 0.5})],
    ),
    "lightning, the end": ("`Trainer.fit` stopped: `max_epochs=3` reached.", [("attempt.ended", {"reason": "finished"})]),
    "olmo": (
        f"{LOOK} 10:00:05.520 node-a:0  olmo.train:908  INFO    [step=422/739328,epoch=0]\n"
        "    optim/total_grad_norm=0.4020\n    train/CrossEntropyLoss=3.712\n    train/Perplexity=40.93\n"
        "    throughput/total_tokens=442,013,312\n    throughput/device/tokens_per_second=26,570\n"
        "    throughput/device/batches_per_second=0.0254\n    System/Peak GPU Memory (MB)=53,695\n",
        [(422, {"grad_norm": 0.402, "loss": 3.712, "tokens_per_second_per_gpu": 26570.0})],
    ),
    "olmo, two records": (
        "[2026-03-04 19:06:17] INFO     [olmo.train:816, rank=0] [step=75/739328]\n    train/CrossEntropyLoss=9.5\n"
        "olmo.train:816\tINFO\t[step=76/739328]\n    train/CrossEntropyLoss=9.4\nsomething else\n",
        [(75, {"loss": 9.5}), (76, {"loss": 9.4})],
    ),
    "olmo, a dead loader": (
        "CRITICAL [olmo.util:158, rank=0] Uncaught OLMoThreadError: generator thread data thread 2 failed",
        [("worker.killed", {"what": "data thread 2"})],
    ),
    "nanogpt": (
        "step 250: train loss 2.1302, val loss 2.1433\niter 250: loss 2.2654, time 13500.54ms, mfu -100.00%\n"
        "iter 251: loss 2.1210, time 13.70ms, mfu 26.87%",
        [(250, {"valid_loss": 2.1433}), (250, {"loss": 2.2654, "step_seconds": None}),
         (251, {"loss": 2.121, "step_seconds": 0.0137, "mfu": 0.2687})],
    ),
    "nanochat": (
        "step 00034/13920 (0.24%) | loss: 6.367733 | lrm: 1.00 | dt: 681.99ms | tok/sec: 768,637 | mfu: 48.08 | epoch: 1"
        " | total time: 0.28m | eta: 179.7m [GC rank3] gen2: 713.5ms collected 340341 objects",
        [(34, {"loss": 6.367733, "step_seconds": 0.68199, "tokens_per_second": 768637.0, "mfu": 0.4808}),
         ("log.line", {"rank": 3, "seconds": 0.7135})],
    ),
    "open_clip": (
        "2026-03-02,11:20:11 | INFO | Train Epoch: 2 [102400000/512000000 (20%)] Data (t): 0.310 Batch (t): 2.048,"
        " 4000.00/s, 250.000/s/gpu LR: 0.000400 Logit Scale: 42.770 Loss: 1.07010 (1.9020)",
        [(137500, {"loader_seconds": 0.31, "step_seconds": 2.048, "samples_per_second": 4000.0, "loss": 1.0701})],
    ),
    "open_clip, an unreadable sample": (
        "2026-03-02,11:21:25 | WARNING | Handling webdataset error (OSError('image file is truncated')). Ignoring.",
        [("log.line", {"level": "warning", "what": "unreadable sample"})],
    ),
    "kernel, off the bus": (
        "May 19 07:08:57 n05 kernel: [680111.646286] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>,"
        " GPU has fallen off the bus.",
        [("xid", {"code": 79, "pci": "0000:3b:00"})],
    ),
    "kernel, an application's fault": (
        "[ 1853.3] NVRM: Xid (PCI:0002:00:00): 31, pid=20412, name=python3, Ch 00000012, intr 00000000. MMU Fault",
        [("xid", {"code": 31, "pci": "0002:00:00", "pid": 20412, "process": "python3"})],
    ),
    "kernel, an old driver": ("NVRM: Xid (PCI:0000:01:00): 32, Channel ID 00000009 intr 00800000", [("xid", {"code": 32})]),
    "kernel, a function in the address": ("NVRM: Xid (PCI:0000:10:1c.0): 48, pid=1, DBE", [("xid", {"pci": "0000:10:1c"})]),
    "kernel, severity in the text": (
        "NVRM: Xid (PCI:000f:01:00): 149, NETIR Nonfatal XC0 i0 Link 3 (0x0 0x0)\n"
        "NVRM: Xid (PCI:000f:01:00): 149, NETIR Fatal XC0 i0 Link -1 (0x0 0x0)",
        [("xid", {"code": 149, "fatal": False}), ("xid", {"code": 149, "fatal": True})],
    ),
    "kernel, through another agent": (
        '{"severity":"warn","reason":"XidHardwareFailure","message":"NVRM: Xid (PCI:0000:b9:00): 71, NVLink: fatal'
        ' error detected on link 6"}',
        [("xid", {"code": 71, "pci": "0000:b9:00"})],
    ),
    "kernel, several lines without Xid": (
        "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b4:00.0\n               NVRM: (PCI ID: 10de:26b5) installed in this"
        " system has\n               NVRM: fallen off the bus and is not responding to commands.\n[ 1843.439662] NVRM:"
        " The NVIDIA probe routine failed for 1 device(s).",
        [("gpu.off_bus", {"pci": "0000:b4:00"})],
    ),
    "kernel, one line without Xid": ("NVRM: GPU 0000:a2:00.0: GPU has fallen off the bus.", [("gpu.off_bus", {"pci": "0000:a2:00"})]),
    "kernel, a GPU only named": ("NVRM: GPU at PCI:0000:01:00: GPU-0a1b", []),
    "kernel, a switch": (
        "nvidia-nvswitch0: SXid (PCI:0000:00:00.0): 11002, Fatal, Link 3",
        [("node.condition", {"code": "SXid 11002", "healthy": False}), ("log.line", {"level": "error"})],
    ),
    "kernel, a slow link": (
        "pci 0000:04:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at 0000:01:00.0"
        " (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)",
        [("log.line", {"gigabits": 252.048, "capable": 504.112})],
    ),
    "kernel, blocked": ("INFO: task python3:1235 blocked for more than 120 seconds.", [("log.line", {"pid": 1235, "seconds": 120})]),
    "watchdog, 1.x": (
        "[E ProcessGroupNCCL.cpp:737] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=469509,"
        " OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1802213 milliseconds before timing out.",
        [("nccl.timeout", {"rank": 1, "seq": 469509, "op": "ALLREDUCE", "ran_ms": 1802213, "limit_ms": 1800000})],
    ),
    "watchdog, 2.x with its status": (
        "[rank7]:[E321 02:07:08.858931807 ProcessGroupNCCL.cpp:616] [Rank 7] Watchdog caught collective operation"
        " timeout: WorkNCCL(SeqNum=4487, OpType=ALLTOALL, NumelIn=46684160, NumelOut=46684161, Timeout(ms)=600000) ran"
        " for 600014 milliseconds before timing out.\n[rank7]:[E321 02:07:08.858931807 ProcessGroupNCCL.cpp:1785]"
        " [PG ID 2 PG GUID 9 Rank 7] Exception (either an error or timeout) detected by watchdog at work: 4487, last"
        " enqueued NCCL work: 4490, last completed NCCL work: 4486.",
        [("nccl.timeout", {"rank": 7, "seq": 4487, "op": "ALLTOALL", "group": "9", "numel_out": 46684161,
                           "last_enqueued": 4490, "last_completed": 4486})],
    ),
    "watchdog, other spellings of the status": (
        "[PG 1 Rank 0] Timeout at NCCL work: 7754, last enqueued NCCL work: 7756, last completed NCCL work: 7753.\n"
        "[PG ID 0 PG GUID 0(default_pg) Rank 3]  failure detected by watchdog at work sequence id: 7220 PG status: last"
        " enqueued work: 7221, last completed work: 7219",
        [("nccl.timeout", {"rank": 0, "group": "1", "seq": 7754}),
         ("nccl.timeout", {"rank": 3, "group": "0(default_pg)", "seq": 7220, "last_completed": 7219})],
    ),
    "watchdog, consequences": (
        "[Rank 1] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels ...\n"
        "[Rank 1] To avoid data inconsistency, we are taking the entire process down.",
        [],
    ),
    "watchdog, stuck": (
        "[PG ID 0 PG GUID 0(default_pg) Rank 4] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making"
        " progress in monitoring enqueued collectives.",
        [("log.line", {"rank": 4, "seconds": 600, "level": "error"})],
    ),
    "watchdog, behind a bar": (
        "  7%|▋   | 14/200 [06:55<1:31:45, 29.60s/it][rank2]:[E419 10:42:28.8 ProcessGroupNCCL.cpp:616] [Rank 2] Watchdog"
        " caught collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, Timeout(ms)=1) ran for 2"
        " milliseconds before timing out.",
        [("nccl.timeout", {"rank": 2, "seq": 5})],
    ),
    "nccl, network": (
        "n01:3468:3905 [4] transport/net_ib.cc:2244 NCCL WARN NET/IB: Got completion from peer 10.0.0.2<4791> with"
        " status=12 opcode=0 len=0 vendor err 129 (Recv) localGid fe80:: remoteGids fe80:: hca mlx5_4\n"
        "NCCL WARN NET/IB : Got completion with error 5, opcode 0, len 0, vendor err 249",
        [("nccl.error", {"status": 12, "vendor_err": 129, "hca": "mlx5_4"}), ("nccl.error", {"status": 5, "vendor_err": 249})],
    ),
    "nccl, port and peer": (
        "NCCL WARN NET/IB : mlx5_2:1 Got async event : port error\nNCCL WARN Net : Connection closed by remote peer n02",
        [("nccl.port_error", {"hca": "mlx5_2"}), ("nccl.error", {"status": "closed", "peer": "n02"})],
    ),
    "out of memory in a cgroup": (
        "python3 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0\n"
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,oom_memcg=/a,task_memcg=/a/b,"
        "task=python3,pid=2344,uid=0\nMemory cgroup out of memory: Killed process 2344 (python3) total-vm:98234112kB,"
        " anon-rss:61203344kB, file-rss:0kB, shmem-rss:1048576kB, UID:0 pgtables:1kB oom_score_adj:0",
        [("oom.kill", {"pid": 2344, "process": "python3", "constraint": "memcg"})],
    ),
    "out of memory, old spelling": (
        "Out of memory: Kill process 1235 (python) score 850 or sacrifice child",
        [("oom.kill", {"pid": 1235, "process": "python", "constraint": "none"})],
    ),
    "a loader's worker": (
        "RuntimeError: DataLoader worker (pid 22115) is killed by signal: Bus error. It is possible that dataloader's"
        " workers are out of shared memory.",
        [("worker.killed", {"pid": 22115, "signal": "Bus error"})],
    ),
    "memory of the GPU": (
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        [("rank.error", {"rank": 3})],
    ),
    "torchrun, told to end": (
        "W0823 16:54:02.337000 139733055988160 torch/distributed/elastic/agent/server/api.py:688] Received"
        " Signals.SIGTERM death signal, shutting down workers",
        [("log.line", {"signal": "SIGTERM"})],
    ),
    "torchrun, a victim": ("W0823 16:54:02.3 1 multiprocessing/api.py:857] Sending process 6236 closing signal SIGTERM", []),
    "torchrun, an exit": (
        "E0813 08:21:22.980000 1245483 torch/distributed/elastic/multiprocessing/api.py:984] failed (exitcode: -6)"
        " local_rank: 5 (pid: 1246013) of binary: /usr/bin/python",
        [("rank.exit", {"exit_code": -6, "local_rank": 5, "pid": 1246013})],
    ),
    "torchrun, its box": (
        "============================================================\ntrain.py FAILED\n"
        "------------------------------------------------------------\nFailures:\n[1]:\n"
        "  time      : 2026-04-12_14:58:30\n  host      : n08\n  rank      : 3 (local_rank: 3)\n"
        "  exitcode  : 1 (pid: 386092)\n  error_file: <N/A>\n  traceback : To enable traceback see: an address\n"
        "------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-04-12_14:58:30\n  host      : n07\n  rank      : 2 (local_rank: 2)\n"
        "  exitcode  : -9 (pid: 386091)\n  error_file: <N/A>\n"
        "  traceback : Signal 9 (SIGKILL) received by PID 386091\n"
        "============================================================\n",
        [("rank.exit", {"rank": 3, "exit_code": 1, "host": "n08", "first": False}),
         ("rank.exit", {"rank": 2, "exit_code": -9, "host": "n07", "pid": 386091, "first": True})],
    ),
    "torchrun, a box with one failure": (
        "Failures:\n  <NO_OTHER_FAILURES>\n------\nRoot Cause (first observed failure):\n[0]:\n  rank      : 0\n"
        "  exitcode  : -7 (pid: 3)\n======\n",
        [("rank.exit", {"rank": 0, "exit_code": -7, "first": True})],
    ),
    "torchrun, a box that was cut off": (
        "Root Cause (first observed failure):\n[0]:\n  rank      : 0\n  exitcode  : -7 (pid: 3)\n  traceback : Traceback"
        " (most recent call last):\n    File 'a.py', line 3\n  ValueError: no\n"
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
        [("rank.exit", {"rank": 0, "exit_code": -7, "first": True}), ("xid", {"code": 79})],
    ),
    "a rendezvous": ("TimeoutError: Timeout 600s to complete rendezvous.", [("rank.error", {})]),
    "a status line": (
        "[2026-05-01 04:56:13] PULSE: run-a is running for 1-08:27:35 since 2026-04-29T20:28:38 (1528763)\n"
        "[2026-05-01 05:56:13] ***ALERT: run-a is not RUNNING or SCHEDULED! Alert!***",
        [("scheduler.status", {"state": "running", "name": "run-a"}), ("scheduler.status", {"state": "missing"})],
    ),
    "a traceback": (
        'Traceback (most recent call last):\n  File "train.py", line 3, in main\n[rank5]: ValueError: the shard is empty',
        [("rank.error", {"rank": 5, "error": "ValueError: the shard is empty"})],
    ),
    "other lines": ("wandb: WARNING Step must only increase in log calls.  Step 110 < 161\n\nINFO all is well", []),
}  # fmt: skip
