"""Further lines of kernels, drivers, schedulers and storage, as they stand in system logs of several kinds."""

from tests.agents.logs.table import Says

MACHINES: dict[str, tuple[str, Says]] = {
    "xid, the recovery action": (
        "[Wed Mar  4 03:12:01 2026] NVRM: Xid (PCI:0000:0c:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU"
        " Reset Required)\nMar  4 03:12:02 n05 kernel: NVRM: Xid (PCI:0000:0c:00): 154, pid='<unknown>', name=<unknown>, GPU"
        " recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
        [("xid", {"code": 154, "pci": "0000:0c:00"}), ("xid", {"code": 154})],
    ),
    "xid, nvlink 5": (
        "NVRM: Xid (PCI:0019:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x025001c6 0x00000000 0x00000000)\n"
        "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000001)\n"
        "NVRM: Xid (PCI:0000:01:00): 144, SAW_MVB Nonfatal XC0 i0 Link 0 (0x00000001 0x00000008)",
        [("xid", {"code": 149, "fatal": True}), ("xid", {"code": 145, "fatal": False}), ("xid", {"code": 144, "fatal": False})],
    ),
    "xid, a consequence that names its cause": (
        "kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=1818991, name=python3, Ch 00000001 caused by previous Xid 149",
        [("xid", {"code": 45, "pid": 1818991, "process": "python3"})],
    ),
    "xid, context switch": (
        "[Fri Mar  6 11:43:14 2026] NVRM: Xid (PCI:0000:cb:00): 109, pid=1797829, name=pt_main_thread, Ch 00000008,"
        " errorString CTX SWITCH TIMEOUT, Info 0x58005",
        [("xid", {"code": 109, "process": "pt_main_thread"})],
    ),
    "xid, firmware": (
        "NVRM: Xid (PCI:0000:9b:00): 119, Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 4097"
        " (GSP_INIT_DONE) (0x0 0x0).\nNVRM: Xid (PCI:0000:9b:00): 120, pid=9112, name=ray::Worker, GSP task exception: load"
        " access fault @ pc:0x0000\nNVRM: _kgspLogXid119: Note: Please also check logs above.",
        [("xid", {"code": 119}), ("xid", {"code": 120, "process": "ray::Worker"})],
    ),
    "xid, an instance of a GPU": (
        "NVRM: Xid (PCI:0000:b1:00 GPU-I:05): 94, pid=1235, name=python3, Contained: SM (0x1). RST: No, D-RST: No",
        [("xid", {"code": 94, "pci": "0000:b1:00", "instance": "5"})],
    ),
    "xid, the oldest drivers": (
        "[24128.834365] NVRM: Xid (0000:01:00): 31, Ch 00000003, engmask 00000101, intr 10000000",
        [("xid", {"code": 31, "pci": "0000:01:00"})],
    ),
    "xid, names with spaces, and pids nobody could tell": (
        "NVRM: Xid (PCI:0000:3b:00): 13, pid=20412, name=CPU 2/KVM, Graphics SM Warp Exception on (GPC 7, TPC 7, SM 0): Illegal\n"
        "NVRM: Xid (PCI:0000:3b:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row (0x00000000001d2) marked for"
        " remapping, reset gpu to activate.\nNVRM: Xid (PCI:0000:3b:00): 92, pid=N/A, name=N/A, High single-bit ECC error rate",
        [("xid", {"code": 13, "process": "CPU 2/KVM"}), ("xid", {"code": 63, "pid": None, "process": None}),
         ("xid", {"code": 92, "pid": None, "process": None})],
    ),
    "off the bus, and what is said beside it": (
        "[10.1] NVRM: GPU at PCI:0000:5d:00: GPU-0a1b2c3d\n[10.2] NVRM: GPU Board Serial Number: 1650000000\n"
        "[10.3] NVRM: Xid (PCI:0000:5d:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
        "[10.4] NVRM: GPU 0000:5d:00.0: GPU has fallen off the bus.\n[10.5] NVRM: GPU 0000:5d:00.0: GPU serial number is 165.\n"
        "[10.6] NVRM: A GPU crash dump has been created.\n[10.7] all is well",
        [("xid", {"code": 79}), ("gpu.off_bus", {"pci": "0000:5d:00"})],
    ),
    "switch, fatal and not": (
        "nvidia-nvswitch3: SXid (PCI:0000:c2:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
        "nvidia-nvswitch3: SXid (PCI:0000:c2:00.0): 20034, Severity 1 Engine instance 30 Sub-engine instance 00\n"
        "nvidia-nvswitch3: SXid (PCI:0000:c2:00.0): 20034, Data {0x50610002, 0x50610002, 0x00000000}\n"
        "nvidia-nvswitch0: SXid (PCI:0000:87:00.0): 24007, Non-fatal, Link 44 sourcetrack timeout error (First)",
        [("node.condition", {"code": "SXid 20034", "healthy": False, "fatal": True}), ("log.line", {"level": "error"}),
         ("node.condition", {"code": "SXid 24007", "fatal": False})],
    ),
    "memory, a whole host": (
        "[Sun Mar  1 08:24:00 2026] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
        "task_memcg=/init.scope,task=python,pid=7898,uid=0\n[Sun Mar  1 08:24:00 2026] Out of memory: Killed process 7898"
        " (python) total-vm:26184840kB, anon-rss:15370088kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:38964kB"
        " oom_score_adj:0\n[Sun Mar  1 08:24:01 2026] oom_reaper: reaped process 7898 (python), now anon-rss:0kB",
        [("oom.kill", {"pid": 7898, "process": "python", "constraint": "none"})],
    ),
    "memory, several of one group": (
        "Mar  1 23:09:27 n05 kernel: [  514.68] Memory cgroup out of memory: Killed process 15618 (python3) total-vm:11892kB\n"
        "Mar  1 23:09:27 n05 kernel: [  514.70] Memory cgroup out of memory: Killed process 15675 (pt_data_worker)"
        " total-vm:11892kB, anon-rss:4292kB",
        [("oom.kill", {"pid": 15618, "constraint": "memcg"}), ("oom.kill", {"pid": 15675, "process": "pt_data_worker"})],
    ),
    "memory, as slurm tells it": (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the step tasks have been OOM Killed.\n"
        "slurmstepd: error: Detected 2 oom-kill event(s) in StepId=4712.batch. Some of your processes may have been killed",
        [("oom.kill", {"constraint": "memcg", "step": "4711.0"}), ("oom.kill", {"step": "4712.batch"})],
    ),
    "memory, what is none": (
        "skipping the batch: CUDA out of memory, trying a smaller one\nOut of memory handling is on\n"
        "INFO oom_score_adj of the worker is 500",
        [],
    ),
    "slurm, a job that is ended": (
        "slurmstepd: error: *** JOB 4713 ON n05 CANCELLED AT 2026-03-04T10:00:00 DUE TO TIME LIMIT ***\n"
        "slurmstepd: error: *** STEP 4714.0 ON n06 CANCELLED AT 2026-03-04T10:00:01 DUE TO PREEMPTION ***\n"
        "slurmstepd: error: *** JOB 4715 ON n07 CANCELLED AT 2026-03-04T10:00:02 ***",
        [("scheduler.status", {"state": "cancelled", "reason": "time limit", "name": "4713"}),
         ("scheduler.status", {"state": "cancelled", "reason": "preemption", "name": "4714.0"}),
         ("scheduler.status", {"state": "cancelled", "reason": "", "name": "4715"})],
    ),
    "slurm, a node that failed": (
        "slurmstepd: error: *** JOB 4716 ON n08 CANCELLED AT 2026-03-04T10:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR"
        " DETAILS ***\nsrun: error: n05: task 3: Killed\nsrun: Terminating StepId=4711.0",
        [("scheduler.status", {"state": "cancelled", "name": "4716", "reason": "node failure"})],
    ),
    "blocked, a kernel's own task": (
        "INFO: task kworker/u257:3+nfsiod:3022 blocked for more than 241 seconds.",
        [("log.line", {"pid": 3022, "process": "kworker/u257:3+nfsiod"})],
    ),
    "lockup": (
        "[9.1] watchdog: BUG: soft lockup - CPU#12 stuck for 23s! [python3:1236]\n"
        "NMI watchdog: Watchdog detected hard LOCKUP on cpu 3",
        [("log.line", {"level": "error"}), ("log.line", {"level": "error"})],
    ),
    "nfs": (
        "[157.1] nfs: server 10.0.0.5 not responding, still trying\n[157.2] nfs: server 10.0.0.5 not responding, still trying\n"
        "[158.3] nfs: server 10.0.0.5 OK\n[158.4] nfs: server 10.0.0.5 OK\nnfs: server store-a not responding, timed out",
        [("log.line", {"level": "error", "server": "10.0.0.5"}), ("log.line", {"level": "info", "server": "10.0.0.5"}),
         ("log.line", {"level": "error", "server": "store-a"})],
    ),
    "lustre": (
        "Mar  4 13:50:10 n05 kernel: [268.4] Lustre: fs-OST0003-osc-ffff8820: Connection to fs-OST0003 (at 10.0.47.2@tcp) was"
        " lost; in progress operations using this service will wait for recovery to complete\n"
        "LustreError: 167-0: fs-OST0003-osc-ffff8820: This client was evicted by fs-OST0003; in progress operations using this"
        " service will fail.\nLustre: fs-OST0003-osc-ffff8820: Connection restored to fs-OST0003 (at 10.0.47.2@tcp)\n"
        "LustreError: 11-0: fs-MDT0000-mdc-ffff8820: operation obd_ping to node 10.0.0.8@o2ib failed: rc = -107\n"
        "Lustre: 2449:0:(client.c:2141:ptlrpc_expire_one_request()) Skipped 24 previous similar messages",
        [("log.line", {"level": "error", "server": "fs-OST0003"}), ("log.line", {"level": "error", "server": "fs-OST0003"}),
         ("log.line", {"level": "info", "server": "fs-OST0003"})],
    ),
    "nvme": (
        "[7893.7] nvme nvme1: I/O 832 (I/O Cmd) QID 1 timeout, aborting\n[7893.8] nvme nvme1: Abort status: 0x0\n"
        "[7900.0] nvme nvme2: I/O tag 320 (1140) opcode 0x2 (I/O Cmd) QID 5 timeout, reset controller\n"
        "[7901.0] nvme nvme3: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10\n"
        "[1.0] nvme nvme0: Shutdown timeout set to 10 seconds\n[1.1] nvme nvme0: 64/0/0 default/read/poll queues",
        [("log.line", {"level": "error", "device": "nvme1"}), ("log.line", {"device": "nvme2"}), ("log.line", {"device": "nvme3"})],
    ),
    "disks": (
        "blk_update_request: I/O error, dev nvme0n1, sector 8 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0\n"
        "critical medium error, dev sdb, sector 4711 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 2\n"
        "Buffer I/O error on dev sdc1, logical block 0, async page read\n"
        "EXT4-fs error (device sdd1): ext4_find_entry:1455: inode #2: comm python: reading directory lblock 0\n"
        "EXT4-fs (sde1): Remounting filesystem read-only\nXFS (dm-0): metadata I/O error in \"xfs_read\" at daddr 0x1 len 1\n"
        "XFS (dm-1): Corruption of in-memory data (0x8) detected at xfs_trans_cancel. Shutting down filesystem.\n"
        "blk_update_request: I/O error, dev fd0, sector 0\nI/O error, dev sr0, sector 0 op 0x0:(READ)\n"
        "I/O error, dev loop3, sector 0 op 0x0:(READ)\nEXT4-fs (vdb): mounted filesystem with ordered data mode",
        [("log.line", {"device": "nvme0n1"}), ("log.line", {"device": "sdb"}), ("log.line", {"device": "sdc1"}),
         ("log.line", {"device": "sdd1"}), ("log.line", {"device": "sde1"}), ("log.line", {"device": "dm-0"}),
         ("log.line", {"device": "dm-1"})],
    ),
    "memory modules": (
        "[11189.9] EDAC MC3: 1 UE memory read error on CPU_SrcID#1_MC#1_Chan#2_DIMM#0 (channel:2 slot:0 page:0xb757 rank:0)\n"
        "EDAC MC1: 262 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x2031c14)\n"
        "EDAC MC0: 1 UE on mc#0csrow#1channel#2 (csrow:1 channel:2 page:0x1 offset:0x40 grain:64 )\n"
        "EDAC MC: Ver: 3.0.0\nEDAC sbridge MC1: HANDLING MCE MEMORY ERROR",
        [("log.line", {"level": "error", "device": "CPU_SrcID#1_MC#1_Chan#2_DIMM#0"}),
         ("log.line", {"level": "error", "device": "mc#0csrow#1channel#2"})],
    ),
    "machine checks": (
        "mce: [Hardware Error]: CPU 12: Machine Check Exception: 5 Bank 3: be00000000800400\n"
        "{1}[Hardware Error]: event severity: recoverable\n{2}[Hardware Error]: event severity: corrected\n"
        "mce: [Hardware Error]: Machine check events logged\nmce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 7: 8c00\n"
        "mce: CPU0: Thermal monitoring enabled (TM1)\n"
        "Memory failure: 0x4f2a1: Killing python3:1237 due to hardware memory corruption\nmce: Using 32 MCE banks",
        [("log.line", {"level": "error"}), ("log.line", {"level": "error"}), ("log.line", {"level": "error"})],
    ),
    "pcie": (
        "pcieport 0000:80:01.0: AER: Uncorrected (Fatal) error received: 0000:81:00.0\n"
        "nvidia 0000:81:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)\n"
        "nvidia 0000:81:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)\n"
        "pcieport 0000:80:01.0: AER: Corrected error received: 0000:81:00.0\n"
        "pcieport 0000:80:01.0: AER: enabled with IRQ 33",
        [("log.line", {"level": "error", "device": "0000:81:00.0"})],
    ),
    "heat": (
        "[1.1] CPU3: Core temperature above threshold, cpu clock throttled (total events = 1234)\n"
        "[1.2] mce: CPU4: Package temperature above threshold, cpu clock throttled (total events = 1)\n"
        "[1.3] mce: CPU4: Package temperature/speed normal",
        [("log.line", {"level": "warning"}), ("log.line", {"level": "warning"}), ("log.line", {"level": "info"})],
    ),
    "adapters, their firmware": (
        "mlx5_core 0000:5e:00.0: mlx5_health_try_recover:371:(pid 1): health recovery failed\n"
        "mlx5_core 36fd:00:02.0: wait_func:1137:(pid 99): 2ERR_QP(0x507) timeout. Will cause a leak of a command resource\n"
        "mlx5_core 0000:5e:00.0: print_health_info:381:(pid 0): synd 0x1: firmware internal error\n"
        "mlx5_core 0000:5e:00.1: Port module event: module 1, High Temperature\n"
        "mlx5_core 0000:5e:00.0: E-Switch: Disable: mode(LEGACY), nvfs(0)",
        [("log.line", {"level": "error", "device": "0000:5e:00.0"}), ("log.line", {"level": "error"}),
         ("log.line", {"level": "error"}), ("log.line", {"level": "error", "device": "0000:5e:00.1"})],
    ),
    "xid, printed with levels": (
        "kern  :err   : [Wed Mar  4 03:12:01 2026] NVRM: Xid (PCI:0000:65:00): 48, pid=1, name=p, DBE (double bit error)\n"
        "<4>[ 1843.308145] NVRM: Xid (PCI:0000:b9:00): 74, pid=2, name=q, NVLink: fatal error detected on link 2(0x10000, 0x0)\n"
        "2026-03-04T10:00:00.123456+00:00 n17 kernel: NVRM: Xid (PCI:0000:3f:00): 95, pid=3100, name=python, Uncontained: LTC TAG",
        [("xid", {"code": 48, "pid": 1}), ("xid", {"code": 74, "process": "q"}), ("xid", {"code": 95})],
    ),
    "driver, lines beside the errors": (
        "NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, requiring os reboot to recover.\n"
        "NVRM: rm_init_adapter failed, device minor number 3\nNVRM: GPU 0000:3f:00.0: RmInitAdapter failed! (0x26:0x56:1474)",
        [],
    ),
    "adapters": (
        "mlx5_core 0000:a3:00.0: Port module event[error]: module 0, Cable error, Bus stuck(I2C or data shorted)\n"
        "mlx5_core 0000:a3:00.0: Port module event: module 1, Cable unplugged\n"
        "mlx5_core 0000:a3:00.0: Port module event: module 1, Cable plugged\n"
        "mlx5_core 0000:41:00.0 ens1f0np0: Link down\nmlx5_core 0000:41:00.0 ens1f0np0: Link up\n"
        "mlx5_core 0000:41:00.0: poll_health:825:(pid 0): device's health compromised - reached miss count\n"
        "mlx5_core 0000:17:00.0 eth2: TX timeout detected\nmlx5_core 0000:17:00.0: firmware version: 28.39.1002\n"
        "bnxt_en 0000:18:00.0 eno1: NIC Link is Down\nNETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out",
        [("log.line", {"level": "error", "device": "0000:a3:00.0"}), ("log.line", {"level": "error"}),
         ("log.line", {"level": "error", "device": "0000:41:00.0", "link": "ens1f0np0"}),
         ("log.line", {"level": "info", "link": "ens1f0np0"}), ("log.line", {"level": "error", "device": "0000:41:00.0"}),
         ("log.line", {"level": "error"}), ("log.line", {"level": "error", "link": "eno1"}), ("log.line", {"level": "error"})],
    ),
}  # fmt: skip
