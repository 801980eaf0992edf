"""Further lines of trainers, by version and fork, written as the project's sources and public reports print them."""

from tests.agents.logs.table import NAN, Says

TRAINERS: dict[str, tuple[str, Says]] = {
    "megatron, its first version": (
        " iteration      200/  500000 | elapsed time per iteration (ms): 530.1 | learning rate 1.400E-04 | lm loss"
        " 7.103400E+00 | loss scale 262144.0 |",
        [(200, {"step_seconds": 0.5301, "learning_rate": 1.4e-4, "loss": 7.1034, "loss_scale": 262144.0})],
    ),
    "megatron, second version": (
        " iteration      300/  500000 | elapsed time per iteration (ms): 531.2 | learning rate: 1.400E-04 | lm loss:"
        " 6.903400E+00 | loss scale: 131072.0 | number of skipped iterations:   0 | number of nan iterations:   0 |",
        [(300, {"step_seconds": 0.5312, "loss": 6.9034, "skipped": 0.0})],
    ),
    "megatron, a model without lm loss": (
        " [2026-03-04 10:11:12] iteration      400/  500000 | consumed samples:       102400 | elapsed time per iteration"
        " (ms): 221.0 | learning rate: 9.9E-05 | global batch size:   256 | masked lm loss: 5.1E+00 | sop loss: 6.9E-01 |"
        " loss scale: 1.0 | grad norm: 1.25 | number of skipped iterations:   0 | number of nan iterations:   0 |",
        [(400, {"step_seconds": 0.221, "grad_norm": 1.25})],
    ),
    "megatron core, energy and a second loss": (
        " [2026-03-04 10:11:12] iteration      110/   10000 | consumed samples:        28160 | elapsed time per iteration"
        " (ms): 5481.4 | throughput per GPU (TFLOP/s/GPU): 411.2 | energy per GPU (J/iter/GPU): 2311.4 | power per GPU"
        " (W/GPU): 421.7 | learning rate: 1.100000E-04 | global batch size:   256 | lm loss: 3.125000E+00 | mtp_1 loss:"
        " 3.500000E+00 | load_balancing_loss: 1.01E+00 | loss scale: 1.0 | grad norm: 0.402 | number of skipped"
        " iterations:   0 | number of nan iterations:   0 |",
        [(110, {"step_seconds": 5.4814, "tflops": 411.2, "learning_rate": 1.1e-4, "loss": 3.125, "grad_norm": 0.402})],
    ),
    "megatron-deepspeed, tokens per gpu": (
        " iteration       20/ 1907348 | consumed samples:         1280 | consumed tokens:       655360 | elapsed time per"
        " iteration (ms): 1288.1 | learning rate: 1.6E-07 | global batch size:    64 | lm loss: 1.070000E+01 | loss scale:"
        " 65536.0 | grad norm: 19.125 | num zeros: 0.0 | actual seqlen:   512 | number of skipped iterations:   0 | number"
        " of nan iterations:   0 | samples per second: 49.685 | tokens per gpu per second (tgs): 3179.800 | TFLOPs: 8.22 |",
        [(20, {"tokens_per_second_per_gpu": 3179.8, "samples_per_second": 49.685, "tflops": 8.22, "tokens": 32768.0})],
    ),
    "gpt-neox": (
        "[2026-03-04 01:02:03,456] [INFO] [logging.py:60:print_rank_0]  samples/sec: 34.521 | iteration     1010/  320000 |"
        " elapsed time per iteration (ms): 29748.2 | learning rate: 1.9E-05 | approx flops per GPU: 61.3TFLOPS | lm_loss:"
        " 2.750000E+00 | loss scale: 4096.0 | number of skipped iterations:   0 | number of nan iterations:   0 |",
        [(1010, {"step_seconds": 29.7482, "samples_per_second": 34.521, "loss": 2.75, "tflops": 61.3})],
    ),
    "gpt-neox, validation": (
        " validation results at iteration 2000 | lm_loss value: 2.625000E+00 | lm_loss_ppl value: 1.380000E+01 |",
        [(2000, {"valid_loss": 2.625})],
    ),
    "megatron core, validation and test": (
        " validation loss at iteration 510 on validation set | lm loss value: 2.500000E+00 | lm loss PPL: 1.2E+01 |\n"
        " validation loss at iteration 510 on test set | lm loss value: 2.750000E+00 | lm loss PPL: 1.5E+01 |",
        [(510, {"valid_loss": 2.5}), (510, {"valid_loss.test": 2.75})],
    ),
    "megatron core, a save and its end": (
        "[2026-03-04 10:00:00] saving checkpoint at iteration     600 to /save in torch_dist format\n"
        "[2026-03-04 10:00:21]   successfully saved checkpoint from iteration     600 to /save [ t 1/2, p 1/4 ]",
        [("checkpoint.begin", {"step": 600}), ("checkpoint.end", {"step": 600, "seconds": 21.0})],
    ),
    "megatron core, a save in the background": (
        "[2026-03-04 10:00:00] saving checkpoint at iteration     700 to /save in torch_dist format\n"
        "[2026-03-04 10:00:03]   scheduled an async checkpoint save at iteration     700 to /save\n"
        "[2026-03-04 10:01:30]   successfully saved checkpoint from iteration     700 to /save",
        [("checkpoint.begin", {"step": 700}),
         ("checkpoint.end", {"step": 700, "mode": "async", "seconds": 90.0, "pause_seconds": 3.0})],
    ),
    "megatron, what it loads": (
        " successfully loaded checkpoint from /save [ t 1/1, p 1/1 ] at iteration 700\n loading checkpoint from /save at"
        " iteration 700\nWARNING: could not find the metadata file /save/latest_checkpointed_iteration.txt",
        [],
    ),
    "nemo, its first lines": (
        "Training epoch 0, iteration 9/9 | lr: 0.0005 | consumed_samples: 320 | global_batch_size: 32 | global_step: 9 |"
        " reduced_train_loss: nan",
        [(9, {"loss": NAN, "learning_rate": 0.0005, "batch_size": 32.0})],
    ),
    "nemo, speeds": (
        "[NeMo I 2026-03-04 10:00:00 nemo_logging:393] Training epoch 1, iteration 3/19 | lr: 3e-05 | global_batch_size: 8 |"
        " global_step: 23 | max_memory_reserved: 72000000000 | reduced_train_loss: 1.5 | train_step_timing in s: 2.25 |"
        " TFLOPS_per_GPU: 702.5 | grad_norm: 0.5",
        [(23, {"loss": 1.5, "step_seconds": 2.25, "tflops": 702.5, "grad_norm": 0.5})],
    ),
    "nemo, an older bar": (
        "Epoch 0:   1%|          | 796/77225 [9:07:58<878:01:48, 41.25s/it, loss=3.2, v_num=, reduced_train_loss=3.080,"
        " global_step=795.0, consumed_samples=1.63e+6]",
        [(795, {"loss": 3.08, "step_seconds_mean": 41.25})],
    ),
    "nemo, a bar without a loss": (
        "Sanity Checking DataLoader 0:  50%|█████     | 1/2 [00:06<00:06,  0.16it/s]\n"
        "Epoch 0:   0%|          | 0/1250 [00:00<?, ?it/s]\nTraining:   0%|          | 0/125000 [00:00<?, ?it/s]",
        [],
    ),
    "nemo, a global save": (
        "Global Checkpoint Save : Rank: 0 : Iteration: 49 : Start time: 1772600000.374s : Save duration: 0.150s\n"
        "Successfully saved checkpoint from iteration      49 to /results/a",
        [("checkpoint.end", {"step": 49})],
    ),
    "deepspeed, before running means": (
        "[2026-03-11 02:06:58,985] [INFO] [logging.py:69:log_dist] [Rank 0] step=50, skipped=2, lr=[4e-05],"
        " mom=[[0.9, 0.999]]\n[2026-03-11 02:06:58,985] [INFO] [timer.py:189:stop] 0/50, SamplesPerSec=84.48609168106144,"
        " MemAllocated=0.26GB, MaxMemAllocated=9.02GB",
        [(50, {"learning_rate": 4e-05}), (50, {"samples_per_second_mean": 84.48609168106144})],
    ),
    "deepspeed, micro steps": (
        "[2026-03-17 19:53:24,981] [INFO] [timer.py:258:stop] epoch=0/micro_step=9000/global_step=4500,"
        " RunningAvgSamplesPerSec=16.25, CurrSamplesPerSec=16.5, MemAllocated=0.02GB, MaxMemAllocated=0.97GB",
        [(4500, {"samples_per_second_mean": 16.25, "samples_per_second": 16.5})],
    ),
    "deepspeed, a save and its end, told by two ranks": (
        "[2026-03-04 10:00:00,100] [INFO] [logging.py:96:log_dist] [Rank 0] step=500, skipped=0, lr=[np.float64(2e-05)],"
        " mom=[(0.9, 0.95)]\n[2026-03-04 10:00:00,100] [INFO] [logging.py:96:log_dist] [Rank 0] [Torch] Checkpoint"
        " global_step500 is about to be saved!\n[2026-03-04 10:00:10,100] [INFO] [torch_checkpoint_engine.py:33:commit] [Torch]"
        " Checkpoint global_step500 is ready now!\n[2026-03-04 10:00:11,100] [INFO] [torch_checkpoint_engine.py:33:commit]"
        " [Torch] Checkpoint global_step500 is ready now!",
        [(500, {"learning_rate": 2e-05}), ("checkpoint.begin", {"step": 500}), ("checkpoint.end", {"step": 500, "seconds": 10.0})],
    ),
    "megatron, ends that were asked for": (
        "[exiting program at iteration 5000] datetime: 2026-03-04 10:11:12\n"
        "[exiting program after receiving SIGTERM.] datetime: 2026-03-04 10:11:13",
        [("attempt.ended", {"reason": "stopped"}), ("attempt.ended", {"reason": "stopped"})],
    ),
    "deepspeed, overflow of the fused optimiser": (
        "[2026-03-05 16:29:55,795] [INFO] [fused_optimizer.py:382:_update_scale]\nGrad overflow on iteration 5\n"
        "[2026-03-05 16:29:55,795] [INFO] [fused_optimizer.py:383:_update_scale] Reducing dynamic loss scale from"
        " 268435456.0 to 134217728.0\n[2026-03-05 16:29:55,795] [INFO] [logging.py:69:log_dist] [Rank 0] Overflow detected."
        " Skipping step. Attempted loss scale: 268435456.0, reducing to 134217728.0",
        [(0, {"skipped": 1.0, "loss_scale": 134217728.0})],
    ),
    "deepspeed, overflow behind a bar": (
        "  0%|       | 9/63645 [00:19<37:53:00,  2.14s/it][2026-03-08 12:02:45,001] [INFO] [stage3.py:2323:_overflow_clean_up]"
        " [deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 16777216.0, reducing to 8388608.0",
        [(0, {"skipped": 1.0, "loss_scale": 8388608.0})],
    ),
    "deepspeed, its pipeline": (
        "steps: 30 loss: 2.2514 iter time (s): 0.250 samples/sec: 128.5",
        [(30, {"loss": 2.2514, "step_seconds": 0.25, "samples_per_second": 128.5})],
    ),
    "deepspeed, the end of its scale": (
        "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
        [("rank.error", {"error": "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run."})],
    ),
    "torchtitan, words for tokens": (
        "[rank0]:2026-07-02 14:02:31,205 - root - INFO - step: 10  loss:  7.7774  memory: 41.10GiB(51.9%)  wps: 2,133"
        "  mfu: 31.4%",
        [(10, {"loss": 7.7774, "tokens_per_second_per_gpu": 2133.0, "mfu": 0.314, "hbm_peak_bytes": 41.1 * 2**30})],
    ),
    "torchtitan, validation": (
        "[rank0]:[titan] 2026-07-02 14:02:31,205 - root - INFO - validate step: 20  loss:  3.1250  memory: 41.10GiB(51.90%)"
        "  tps: 9,111",
        [(20, {"valid_loss": 3.125, "loss": None, "tokens_per_second_per_gpu": None})],
    ),
    "torchtitan, loggers with names, all ranks without one": (
        "[titan] 2026-09-11 23:05:50,001 - torchtitan.observability.metrics - INFO - step:  4  loss:  7.62585  grad_norm:"
        " 26.6250  memory: 66.91GiB(37.51%)  tps: 10,050  tflops: 314.71  mfu: 13.99%\n"
        "[titan] 2026-09-11 23:05:50,001 - torchtitan.observability.metrics - INFO - step:  4  loss:  7.62585  grad_norm:"
        " 26.6250  memory: 66.91GiB(37.51%)  tps: 10,049  tflops: 314.68  mfu: 13.99%\n"
        "[titan] 2026-09-11 23:05:52,001 - torchtitan.observability.metrics - INFO - step:  5  loss:  7.12500  grad_norm:"
        " 46.5000  memory: 66.91GiB(37.51%)  tps: 10,007  tflops: 313.36  mfu: 13.93%\n",
        [(4, {"loss": 7.62585, "grad_norm": 26.625, "mfu": 0.1399}), (5, {"loss": 7.125})],
    ),
    "torchtitan, other lines": (
        "[rank0]:[titan] 2026-06-16 22:30:50,976 - root - INFO - Finished dumping profiler traces in 0.22 seconds\n"
        "[rank0]:[titan] 2026-06-16 22:30:50,976 - root - INFO - Finished loading the checkpoint in 2.30 seconds.\n"
        "[rank0]:[titan] 2026-06-16 22:30:50,976 - root - WARNING - Dataset c4_test is being re-looped",
        [],
    ),
    "torchtitan, a newer save": (
        "[titan] 2026-06-16 22:30:50,976 - root - INFO - Saving the checkpoint (or staging if async is enabled).\n"
        "[titan] 2026-06-16 22:30:52,976 - root - INFO - Finished saving the checkpoint (or staging if async is enabled) in"
        " 2.00 seconds.",
        [("checkpoint.begin", {}), ("checkpoint.end", {"seconds": 2.0})],
    ),
    "torchtitan, its first collection": (
        "[titan] 2026-09-11 23:05:44,151 - torchtitan.tools.utils - INFO - [GC] Initial GC collection took 0.02 seconds",
        [("log.line", {"seconds": 0.02})],
    ),
    "hugging face, an evaluation has a bar of its own": (
        "  0%|          | 0/200 [00:00<?, ?it/s]\r 50%|█████     | 100/200 [06:55<06:45, 4.15s/it]\n"
        "{'loss': 1.5, 'grad_norm': 0.25, 'learning_rate': 2.5e-05, 'epoch': 0.5}\n"
        "  0%|          | 0/25 [00:00<?, ?it/s]\r 12%|█▏        | 3/25 [00:01<00:10,  2.10it/s]\r"
        "100%|██████████| 25/25 [00:10<00:00,  2.40it/s]\n"
        "{'eval_loss': 1.625, 'eval_runtime': 10.5, 'eval_samples_per_second': 24.3, 'epoch': 0.5}\n"
        " 50%|█████     | 101/200 [07:10<06:45, 4.15s/it]{'loss': 1.25, 'epoch': 0.51}",
        [(100, {"loss": 1.5}), (100, {"valid_loss": 1.625}), (101, {"loss": 1.25})],
    ),
    "hugging face, an evaluation before the first loss": (
        "  1%|          | 2/300 [00:05<12:00, 2.40s/it]\n100%|██████████| 8/8 [00:03<00:00,  2.40it/s]\n"
        "{'eval_loss': 4.5, 'eval_runtime': 3.5, 'epoch': 0.01}",
        [(2, {"valid_loss": 4.5})],
    ),
    "hugging face, bars that are no training": (
        "Loading checkpoint shards: 100%|██████████| 4/4 [00:10<00:00,  2.63s/it]\n"
        "Map (num_proc=8): 100%|██████████| 5000/5000 [00:02<00:00, 2100.15 examples/s]\n"
        "{'loss': 2.5, 'grad_norm': 1.5, 'learning_rate': 1e-06, 'epoch': 0.01}",
        [(1, {"loss": 2.5})],
    ),
    "hugging face, trl": (
        "  2%|▏         | 10/500 [01:00<49:00,  6.00s/it]{'loss': 0.125, 'grad_norm': 0.625, 'learning_rate': 1e-06,"
        " 'num_tokens': 1048576.0, 'completions/mean_length': 312.5, 'rewards/chosen': -0.5, 'reward': 0.75, 'epoch': 0.02}",
        [(10, {"loss": 0.125, "tokens_seen": 1048576.0})],
    ),
    "llama-factory, its older file": (
        '{"current_steps": 20, "total_steps": 100, "loss": 1.25, "eval_loss": null, "predict_loss": null, "reward": null,'
        ' "lr": 4.5e-05, "epoch": 0.2, "percentage": 20.0, "elapsed_time": "0:00:10", "remaining_time": "0:00:40",'
        ' "throughput": "2530.11", "total_tokens": 51200}',
        [(20, {"loss": 1.25, "learning_rate": 4.5e-05, "tokens_per_second_mean": 2530.11})],
    ),
    "lightning, the loss of the step": (
        "Epoch 4: 100%|██████████| 1875/1875 [00:12<00:00, 125.00it/s, v_num=0, train_loss_step=0.0312,"
        " train_loss_epoch=0.050]",
        [(9375, {"loss": 0.0312, "step_seconds_mean": 0.008})],
    ),
    "lightning, names with a stroke": (
        "Epoch 0:  10%|█         | 10/100 [00:01<00:09,  8.00it/s, v_num=1, train/loss=2.250, val/loss=2.500]",
        [(10, {"loss": 2.25, "valid_loss": 2.5})],
    ),
    "olmo-core": (
        "2026-03-01 12:00:00.123\tn05:0\tolmo_core.train.callbacks.console_logger:84\tINFO\t[step=100/1000,epoch=1,eta=2h]\n"
        "    optim/LR (group 0)=3.000E-04\n    optim/total grad norm=0.5012\n    throughput/device/BPS=0.2500\n"
        "    throughput/device/BPS (actual avg)=0.2400\n    throughput/device/TPS=12,345\n"
        "    throughput/device/data loading (%)=0.4100\n    throughput/device/data loading (s)=0.0125\n"
        "    throughput/total tokens=419,430,400\n    train/CE loss=3.2500\n    train/PPL=25.79\n"
        "    train/masked labels (%)=0.0000\n",
        [(100, {"loss": 3.25, "grad_norm": 0.5012, "learning_rate": 3e-4, "tokens_per_second_per_gpu": 12345.0,
                "loader_seconds": 0.0125, "steps_per_second_mean": 0.25})],
    ),
    "olmo-core, an evaluation": (
        "INFO [step=250/1000,epoch=1]\n    eval/lm/c4_en-validation/CE loss=3.1250\n    eval/lm/c4_en-validation/PPL=22.8\n",
        [(250, {"valid_loss.c4_en-validation": 3.125})],
    ),
    "nanogpt, not a number": ("iter 251: loss nan, time 13.70ms, mfu 26.87%", [(251, {"loss": NAN})]),
    "modded-nanogpt": (
        "step:0/1480 val_loss:10.8258 train_time:0ms step_avg:nanms\n"
        "step:125/1480 train_loss:4.2500 train_time:29736ms step_avg:258.50ms\n"
        "step:125/1480 val_loss:4.3750 train_time:29736ms step_avg:258.50ms\n"
        "step:126/1480 train_time:29990ms step_avg:258.25ms",
        [(0, {"valid_loss": 10.8258}), (125, {"loss": 4.25, "step_seconds_mean": 0.2585}), (125, {"valid_loss": 4.375}),
         (126, {"step_seconds_mean": 0.25825})],
    ),
    "nanogpt, rebuilt": (
        "step   130 | loss: 5.125000 | lr 1.0900e-04 | norm: 0.7500 | dt: 340.50ms | tok/sec: 1539000.25",
        [(130, {"loss": 5.125, "grad_norm": 0.75, "learning_rate": 1.09e-4, "step_seconds": 0.3405,
                "tokens_per_second": 1539000.25})],
    ),
    "nanochat, a newer field": (
        "step 00044/13920 (0.32%) | loss: 6.125 | lrm: 1.00 | dt: 680.00ms | tok/sec: 770,000 | bf16_mfu: 48.50 | epoch: 1",
        [(44, {"loss": 6.125, "step_seconds": 0.68, "mfu": 0.485})],
    ),
    "composer": (
        "[epoch=0][batch=11/4800]:\n\t Train time/batch: 10\n\t Train time/token: 41943040\n\t Train loss/train/total: 9.1250\n"
        "\t Train metrics/train/LanguageCrossEntropy: 9.1250\n\t Train metrics/train/LanguagePerplexity: 9181.2\n"
        "\t Train l2_norm/grad/global: 1.5000\n\t Train throughput/batches_per_sec: 0.0500\n"
        "\t Train throughput/tokens_per_sec: 6598.0451\n\t Train throughput/device/tokens_per_sec: 412.3750\n"
        "\t Train throughput/device/mfu: 0.2489\n\t Train lr-DecoupledAdamW/group0: 0.0003\n",
        [(11, {"loss": 9.125, "grad_norm": 1.5, "tokens_per_second_per_gpu": 412.375, "mfu": 0.2489,
               "steps_per_second_mean": 0.05, "learning_rate": 0.0003})],
    ),
    "composer, an evaluation": (
        "[batch=500/4800]:\n\t Eval metrics/eval/LanguageCrossEntropy: 3.2500\n\t Eval metrics/eval/LanguagePerplexity: 25.7\n",
        [(500, {"valid_loss": 3.25})],
    ),
    "fairseq, json": (
        '2026-03-04 18:38:34 | INFO | train_inner | {"epoch": 27, "update": 26.267, "loss": "8.125", "nll_loss": "7.0",'
        ' "ppl": "132.47", "wps": "1195.5", "ups": "1.62", "wpb": "738.1", "bsz": "46.4", "num_updates": "33700", "lr":'
        ' "0.00017226", "gnorm": "1.75", "clip": "1", "train_wall": "61", "wall": "30542"}',
        [(33700, {"loss": 8.125, "grad_norm": 1.75, "learning_rate": 0.00017226, "tokens_per_second": 1195.5,
                  "batch_size": 46.4, "epoch": 27.0})],
    ),
    "fairseq, plain": (
        "2026-07-17 07:11:02 | INFO | train_inner | epoch 001:   2800 / 160368 loss=9.255, ppl=611.12, wps=57.3, ups=0.04,"
        " wpb=1613, bsz=80, num_updates=2801, lr=2.8e-05, gnorm=3.25, loss_scale=4, train_wall=13, wall=1236",
        [(2801, {"loss": 9.255, "grad_norm": 3.25, "learning_rate": 2.8e-5, "tokens_per_second": 57.3, "loss_scale": 4.0})],
    ),
    "fairseq, validation": (
        "| epoch 001 | valid on 'valid' subset | valid_loss 8.125 | valid_nll_loss 6.8834 | valid_ppl 118.06 | num_updates 600\n"
        '2026-07-17 07:11:02 | INFO | valid | {"epoch": 2, "valid_loss": "7.5", "valid_ppl": "181.0", "valid_num_updates":'
        ' "1200", "valid_best_loss": "7.5"}',
        [(600, {"valid_loss": 8.125}), (1200, {"valid_loss": 7.5})],
    ),
    "fairseq, an overflow": (
        "2026-04-05 18:47:19 | INFO | fairseq.trainer | NOTE: overflow detected, setting loss scale to: 64.0\n"
        "2026-04-05 18:47:19 | INFO | metaseq.trainer | NOTE: gradient overflow detected, ignoring gradient, setting loss"
        " scale to: 32.0",
        [(0, {"skipped": 1.0, "loss_scale": 64.0}), (0, {"skipped": 1.0, "loss_scale": 32.0})],
    ),
    "open_clip, more than one loss": (
        "2026-03-02,11:20:11 | INFO | Train Epoch: 1 [102400/512000 (20%)] Data (t): 0.250 Batch (t): 2.000, 512.00/s,"
        " 64.000/s/gpu LR: 0.000400 Logit Scale: 42.770 Contrastive_loss: 3.0 (3.1) Caption_loss: 2.0 (2.1) Loss: 5.5000 (5.2)",
        [(600, {"loss": 5.5, "step_seconds": 2.0, "loader_seconds": 0.25})],
    ),
    "trackers that cannot be reached": (
        "wandb: ERROR Error while calling W&B API: requests.exceptions.HTTPError: 500 Server Error\n"
        "WARNING:urllib3.connectionpool: ConnectionResetError: retrying in 3 s\n"
        "2026-03-04 10:00:00 WARNING upload failed: botocore.exceptions.EndpointConnectionError: Could not connect\n"
        "Exception ignored in: <function WeakValueDictionary.__init__>",
        [],
    ),
}  # fmt: skip
