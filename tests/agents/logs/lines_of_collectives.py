"""Further lines of PyTorch's watchdog, NCCL and launchers, by version."""

from tests.agents.logs.table import Says

COLLECTIVES: dict[str, tuple[str, Says]] = {
    "watchdog, before numbers": (
        "[E ProcessGroupNCCL.cpp:566] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE,"
        " Timeout(ms)=1800000) ran for 1806959 milliseconds before timing out.",
        [("nccl.timeout", {"rank": 3, "op": "ALLREDUCE", "ran_ms": 1806959, "limit_ms": 1800000, "seq": None})],
    ),
    "watchdog, shapes": (
        "[E ProcessGroupNCCL.cpp:821] [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9,"
        " OpType=_ALLGATHER_BASE, TensorShape=[7879681], Timeout(ms)=1800000) ran for 1800118 milliseconds before timing out.",
        [("nccl.timeout", {"rank": 4, "seq": 9, "op": "_ALLGATHER_BASE"})],
    ),
    "watchdog, coalesced": (
        "[rank1]:[E1103 07:34:57.46 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout:"
        " WorkNCCL(SeqNum=1, OpType=COALESCED, NumelIn=18446744073709551615, NumelOut=18446744073709551615,"
        " Timeout(ms)=1800000) ran for 1800015 milliseconds before timing out.",
        [("nccl.timeout", {"rank": 1, "seq": 1, "op": "COALESCED", "numel_in": None})],
    ),
    "watchdog, one time-out told five times": (
        "(WorkerDict pid=63295) [rank3]:[E416 20:40:12.984683378 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught collective"
        " operation timeout: WorkNCCL(SeqNum=8, OpType=ALLTOALL, NumelIn=3150849, NumelOut=3150849, Timeout(ms)=600000) ran for"
        " 600001 milliseconds before timing out.\n"
        "[rank3]:[E416 20:40:12.986 ProcessGroupNCCL.cpp:1664] [PG 5 Rank 3] Exception (either an error or timeout) detected by"
        " watchdog at work: 8, last enqueued NCCL work: 10, last completed NCCL work: 7.\n"
        "[rank3]:[E416 20:40:12.987 ProcessGroupNCCL.cpp:1709] [PG 5 Rank 3] Timeout at NCCL work: 8, last enqueued NCCL work:"
        " 10, last completed NCCL work: 7.\n"
        "[rank3]:[E416 20:40:12.988 ProcessGroupNCCL.cpp:621] [Rank 3] Some NCCL operations have failed or timed out. Due to the"
        " asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.\n"
        "[rank3]:[E416 20:40:12.991 ProcessGroupNCCL.cpp:1515] [PG 5 Rank 3] Process group watchdog thread terminated with"
        " exception: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLTOALL,"
        " NumelIn=3150849, NumelOut=3150849, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n"
        "  what():  [PG 5 Rank 3] Process group watchdog thread terminated with exception: [Rank 3] Watchdog caught collective"
        " operation timeout: WorkNCCL(SeqNum=8, OpType=ALLTOALL, NumelIn=3150849, NumelOut=3150849, Timeout(ms)=600000) ran for"
        " 600001 milliseconds before timing out.",
        [("nccl.timeout", {"rank": 3, "seq": 8, "group": "5", "last_enqueued": 10, "last_completed": 7})],
    ),
    "watchdog, a group with a name": (
        "[rank3]:[E909 09:55:46.996672294 ProcessGroupNCCL.cpp:1709] [PG 0 (default_pg) Rank 3] Timeout at NCCL work: 2071,"
        " last enqueued NCCL work: 2083, last completed NCCL work: 2070.",
        [("nccl.timeout", {"rank": 3, "group": "0", "seq": 2071, "last_enqueued": 2083})],
    ),
    "watchdog, a mesh": (
        "[rank9]:[E909 09:55:46.9 ProcessGroupNCCL.cpp:2268] [PG ID 3 PG GUID 17(mesh_dp_shard_cp) Rank 1]  failure detected by"
        " watchdog at work sequence id: 41 PG status: last enqueued work: 45, last completed work: 40",
        [("nccl.timeout", {"group": "17(mesh_dp_shard_cp)", "seq": 41, "rank": 9})],
    ),
    "watchdog, ranks that count within a group": (
        "[rank12]:[E909 09:55:46.9 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout:"
        " WorkNCCL(SeqNum=41, OpType=ALLGATHER, NumelIn=8, NumelOut=16, Timeout(ms)=600000) ran for 600020 milliseconds before"
        " timing out.\n[rank8]:[E909 09:55:46.9 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation"
        " timeout: WorkNCCL(SeqNum=41, OpType=ALLGATHER, NumelIn=8, NumelOut=16, Timeout(ms)=600000) ran for 600020 milliseconds"
        " before timing out.\n[rank12]:[E909 09:55:46.9 ProcessGroupNCCL.cpp:1785] [PG ID 3 PG GUID 9 Rank 0] Exception (either"
        " an error or timeout) detected by watchdog at work: 41, last enqueued NCCL work: 45, last completed NCCL work: 40.",
        [("nccl.timeout", {"rank": 12, "seq": 41, "group": "9"}), ("nccl.timeout", {"rank": 8, "seq": 41, "group": None})],
    ),
    "watchdog, what follows": (
        "[rank7]:[E626 16:48:25.4 ProcessGroupNCCL.cpp:1533] [PG ID 0 PG GUID 0(default_pg) Rank 7] ProcessGroupNCCL preparing"
        " to dump debug info. Include stack trace: 1\n"
        "[rank1]:[E626 16:48:25.4 ProcessGroupNCCL.cpp:670] Stack trace of the failed collective not found, potentially because"
        " FlightRecorder is disabled.\n"
        "[rank0]:[E327 17:04:16.1 HeartbeatMonitor.cpp:1346] [PG ID 0 PG GUID 0 Rank 0] Received a dump signal due to a"
        " collective timeout from  rank 3 and we will try our best to dump the debug info. Last enqueued NCCL work: 2, last"
        " completed NCCL work: 1.\n[rank0]:[E327 17:04:16.1 HeartbeatMonitor.cpp:1346] [PG ID 0 PG GUID 0 Rank 0] Observed"
        " flight recorder dump signal from another rank via TCPStore.\n"
        "[I ProcessGroupNCCL.cpp:850] [Rank 0] NCCL watchdog thread started!",
        [],
    ),
    "watchdog, stuck in a newer version": (
        "[rank5]:[E626 05:14:36.3 HeartbeatMonitor.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 5] ProcessGroupNCCL's watchdog"
        " got stuck for 480 seconds without making progress in monitoring enqueued collectives.",
        [("log.line", {"rank": 5, "seconds": 480})],
    ),
    "watchdog, an error of the device": (
        "[rank2]:[E1103 07:34:57.462 ProcessGroupNCCL.cpp:1595] [PG ID 0 PG GUID 0(default_pg) Rank 2] Process group watchdog"
        " thread terminated with exception: CUDA error: an illegal memory access was encountered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be wrong.",
        [("rank.error", {"rank": 2, "error": "CUDA error: an illegal memory access was encountered"})],
    ),
    "watchdog, three times with a stack between": (
        "[rank4]:[E ProcessGroupNCCL.cpp:523] [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=21,"
        " OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600410 milliseconds before timing out.\n"
        "[rank4]:[E ProcessGroupNCCL.cpp:543] To avoid data inconsistency, we are taking the entire process down.\n"
        "[rank4]:[E ProcessGroupNCCL.cpp:1182] [Rank 4] NCCL watchdog thread terminated with exception: [Rank 4] Watchdog caught"
        " collective operation timeout: WorkNCCL(SeqNum=21, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for"
        " 600410 milliseconds before timing out.\nException raised from checkTimeout at ProcessGroupNCCL.cpp:525 (most recent"
        " call first):\nterminate called after throwing an instance of 'c10::DistBackendError'",
        [("nccl.timeout", {"rank": 4, "seq": 21, "numel_in": 1})],
    ),
    "nccl, what is no error": (
        "[rank0]:[W1103 07:34:57.4 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed before we"
        " destruct ProcessGroupNCCL.\nn01:1:2 [0] NCCL INFO comm 0x7f2 rank 4 nranks 8 cudaDev 4 busId b3000 - Abort COMPLETE",
        [],
    ),
    "a store nobody answers at": (
        "[rank1]: torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 14/16 clients joined.\n"
        "[W socket.cpp:663] [c10d] The client socket has failed to connect to [n05]:29500 (errno: 111 - Connection refused).",
        [("rank.error", {"rank": 1})],
    ),
    "nccl, an error that a rank raises": (
        "[rank3]: torch.distributed.DistBackendError: NCCL error in: /src/c10d/ProcessGroupNCCL.cpp:3763, remote process exited"
        " or there was a network error, NCCL version 2.28.8",
        [("rank.error", {"rank": 3})],
    ),
    "nccl, completions by version": (
        "n04:35902:35977 [0] transport/net_ib.cu:788 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err"
        " 129\nn02:25146:25854 [0] ib_plugin.c:1105 NCCL WARN NET/IB : Got completion from peer 10.0.35.2<49189> with error 4,"
        " opcode 5327, len 5327, vendor err 81 (Send)\n"
        "[2026-03-13 22:26:02] n03:4100:4203 [5] transport/net_ib.cc:2301 NCCL WARN NET/IB: Got completion from peer"
        " 10.0.0.3<4791> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129 req_type=Send"
        " localGid fe80:: remoteGids fe80:: hca mlx5_3",
        [("nccl.error", {"status": 12, "vendor_err": 129}), ("nccl.error", {"status": 4, "vendor_err": 81, "peer": "10.0.35.2<49189>"}),
         ("nccl.error", {"status": 12, "vendor_err": 129, "hca": "mlx5_3"})],
    ),
    "nccl, connections": (
        "n22:183006:183220 [1] misc/socket.cc:518 NCCL WARN Net : Call to recv from 10.200.84.2<58355> failed : Broken pipe\n"
        "n22:183006:183220 [1] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.1.2.3<45678> failed : Connection"
        " refused\nNCCL WARN socketProgress: Connection closed by remote peer n05.cluster<41234>\n"
        "n01:1:2 [0] misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Connection timed out\n"
        "[2026-03-13 22:26:02] n01:1:2 [5] ibvwrap.c:262 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on"
        " dev mlx5_3:1, curr state INIT, next state RTR, local GID index 3",
        [("nccl.error", {"status": "Broken pipe", "peer": "10.200.84.2<58355>"}),
         ("nccl.error", {"status": "Connection refused", "peer": "10.1.2.3<45678>"}),
         ("nccl.error", {"status": "closed", "peer": "n05.cluster<41234>"}),
         ("nccl.error", {"status": "Connection timed out"}), ("nccl.error", {"status": "Connection timed out", "hca": "mlx5_3"})],
    ),
    "nccl, events of a port that are no error": (
        "NCCL WARN NET/IB : mlx5_2:1 Got async event : GID table change\nNCCL WARN NET/IB : mlx5_2:1 Got async event : client"
        " reregistration\nNCCL WARN NET/IB : mlx5_2:1 Got non-fatal async event: port active(9)\n"
        "NCCL WARN NET/IB : mlx5_4:1 Got non-fatal async event: port error(10)",
        [("log.line", {"level": "warning"}), ("log.line", {"level": "warning"}), ("log.line", {"level": "warning"}),
         ("nccl.port_error", {"hca": "mlx5_4"})],
    ),
    "nccl, another network": (
        "n05:1:2 [0] nccl_net_ofi_rdma.c:1 NCCL WARN NET/OFI Request 0x7f14cc5b60c0 completed with error. RC: 113. Error: 2"
        " (UNDELIVERABLE). Completed length: 0",
        [("nccl.error", {"status": 113})],
    ),
    "nccl, other warnings": (
        "n22:1:2 [1] proxy.cc:1119 NCCL WARN [Proxy Service 9] Failed to execute operation Connect from rank 9, retcode 6\n"
        "[2026-09-11 23:05:42] n01:2914395:2914395 [0] misc/ibvwrap.cc:185 (wrap_ibv_alloc_pd) NCCL WARN lib wrapper not"
        " initialized.",
        [("log.line", {"level": "warning"}), ("log.line", {"level": "warning"})],
    ),
    "torchrun, exits by version": (
        "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 3 (pid: 812918) of binary: python\n"
        "[2026-04-12 14:58:30,123] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 0"
        " (pid: 386092) of binary: python\n"
        "E0325 20:57:27.620000 2606 site-packages/torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -11)"
        " local_rank: 5 (pid: 2631) of binary: python",
        [("rank.exit", {"exit_code": -9, "local_rank": 3, "pid": 812918}), ("rank.exit", {"exit_code": 1, "local_rank": 0}),
         ("rank.exit", {"exit_code": -11, "local_rank": 5})],
    ),
    "torchrun, told to end, by version": (
        "WARNING:torch.distributed.elastic.agent.server.api:Received 15 death signal, shutting down workers\n"
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 6237 got signal: 15\n"
        "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 812914 closing signal SIGTERM",
        [("log.line", {"signal": "SIGTERM"}), ("log.line", {"signal": "SIGTERM"})],
    ),
    "torchrun, its box behind a bar and prefixes": (
        "[default0]:torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "[default0]:=====================================================\n[default0]:test.py FAILED\n"
        "[default0]:-----------------------------------------------------\n[default0]:Failures:\n"
        "[default0]:  <NO_OTHER_FAILURES>\n[default0]:-----------------------------------------------------\n"
        "[default0]:Root Cause (first observed failure):\n[default0]:[0]:\n[default0]:  time      : 2026-05-21_15:43:03\n"
        "[default0]:  host      : n05.cluster.local\n[default0]:  rank      : 12 (local_rank: 4)\n"
        "[default0]:  exitcode  : -6 (pid: 14751)\n[default0]:  error_file: <N/A>\n"
        "[default0]:  traceback : Signal 6 (SIGABRT) received by PID 14751\n"
        "[default0]:=====================================================\n",
        [("rank.exit", {"rank": 12, "exit_code": -6, "host": "n05.cluster.local", "first": True})],
    ),
    "deepspeed's launcher": (
        "n05: [2026-04-12 14:58:31,001] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 4712\n"
        "n05: [2026-04-12 14:58:31,007] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python', '-u', 'train.py',"
        " '--local_rank=7', '--deepspeed'] exits with return code = -9",
        [("rank.exit", {"exit_code": -9, "local_rank": 7})],
    ),
    "python, an error of its own": ("[rank2]: Exception: the shard is gone", [("rank.error", {"rank": 2})]),
}  # fmt: skip
