/* A stand-in for the NVIDIA management library: a few GPUs whose state a test sets by name.
 * Signatures follow the library's public interface; what is not here is what an old driver lacks. */
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GPUS 16
#define OK 0
#define INVALID 2
#define UNSUPPORTED 3
#define NO_PERMISSION 4
#define NOT_FOUND 6
#define NOT_LOADED 9
#define TIMED_OUT 10
#define LOST 15

typedef struct {
    long lost, denied, hang, util, clock, mask, temperature, margin, power, pending, dbe, thermal_ns, crc, action;
    long generation, width, links, mig, gpm, bare;
    long xid;
} State;

static State gpus[GPUS];
static int count = 0, loaded = 1, waiting = 0;
static const struct { const char *name; int place; } names[] = {
#define FIELD(name) { #name, (int)(__builtin_offsetof(State, name) / sizeof(long)) }
    FIELD(lost), FIELD(denied), FIELD(hang), FIELD(util), FIELD(clock), FIELD(mask), FIELD(temperature), FIELD(margin),
    FIELD(power), FIELD(pending), FIELD(dbe), FIELD(thermal_ns), FIELD(crc), FIELD(action), FIELD(generation),
    FIELD(width), FIELD(links), FIELD(mig), FIELD(gpm), FIELD(bare), FIELD(xid),
};

/* How many Xid errors a GPU had; every event set has seen some of them. */
static int happened[GPUS];

/* What the tests call. */
void standin_reset(int gpu_count, int driver_loaded) {
    memset(gpus, 0, sizeof gpus);
    count = gpu_count;
    loaded = driver_loaded;
    for (int i = 0; i < GPUS; i++) {
        State healthy = {.util = 97, .clock = 1755, .temperature = 61, .margin = 24, .power = 640000, .generation = 5,
                         .width = 16, .links = 18, .gpm = 1};
        gpus[i] = healthy;
    }
}

/* A process that nobody can reach into gets its GPUs by its environment. */
__attribute__((constructor)) static void begin(void) {
    const char *wanted = getenv("STANDIN_GPUS");
    if (wanted) standin_reset(atoi(wanted), 1);
}

int standin_set(int gpu, const char *name, long value) {
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name)) {
            ((long *)&gpus[gpu])[names[i].place] = value;
            if (!strcmp(name, "xid")) happened[gpu]++;
            return 0;
        }
    return -1;
}

int standin_waiting(void) { return waiting; }

/* The library. A device is a pointer to its state, a MIG instance one to a place behind them. */
static char instances[GPUS][8];
static int number(void *device) {
    char *at = device;
    if (at >= &instances[0][0] && at < &instances[0][0] + sizeof instances) return (int)((at - &instances[0][0]) / 8);
    return (int)((State *)device - gpus);
}
static int is_instance(void *device) {
    char *at = device;
    return at >= &instances[0][0] && at < &instances[0][0] + sizeof instances;
}
static int check(void *device) {
    State *gpu = &gpus[number(device)];
    if (gpu->hang) {
        waiting++;
        while (gpu->hang) usleep(1000);
        waiting--;
    }
    return gpu->lost ? LOST : OK;
}
#define ASK(device) do { int fault = check(device); if (fault) return fault; } while (0)
#define WHOLE(device) do { ASK(device); if (is_instance(device) || gpus[number(device)].bare) return UNSUPPORTED; } while (0)

int nvmlInitWithFlags(unsigned flags) { (void)flags; return loaded ? OK : NOT_LOADED; }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { (void)code; return "stand-in"; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = count; return loaded ? OK : NOT_LOADED; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device) {
    if ((int)i >= count) return INVALID;
    *device = &gpus[i];
    return gpus[i].lost ? LOST : OK;
}
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size) {
    ASK(device);
    if (is_instance(device)) snprintf(uuid, size, "MIG-%d-%d", number(device), (int)(((char *)device - &instances[0][0]) % 8));
    else snprintf(uuid, size, "GPU-%d", number(device));
    return OK;
}
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } Pci;
int nvmlDeviceGetPciInfo_v3(void *device, Pci *pci) {
    ASK(device);
    memset(pci, 0, sizeof *pci);
    snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", 0x3b + number(device));
    return OK;
}
int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates) {
    WHOLE(device);
    if (gpus[number(device)].mig) return UNSUPPORTED;
    rates[0] = gpus[number(device)].util;
    rates[1] = 40;
    return OK;
}
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory) {
    ASK(device);
    memory[0] = is_instance(device) ? 20ull << 30 : 141ull << 30;
    memory[2] = is_instance(device) ? 5ull << 30 : 100ull << 30;
    memory[1] = memory[0] - memory[2];
    return OK;
}
int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz) {
    (void)type; WHOLE(device); *mhz = gpus[number(device)].clock; return OK;
}
int nvmlDeviceGetMaxClockInfo(void *device, unsigned type, unsigned *mhz) { (void)type; WHOLE(device); *mhz = 1980; return OK; }
#ifndef OLD
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *mask) {
    WHOLE(device); *mask = gpus[number(device)].mask; return OK;
}
int nvmlDeviceGetMarginTemperature(void *device, int *margin) { WHOLE(device); margin[1] = gpus[number(device)].margin; return OK; }
#endif
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *mask) {
    WHOLE(device); *mask = gpus[number(device)].mask; return OK;
}
int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *celsius) {
    (void)sensor; WHOLE(device); *celsius = gpus[number(device)].temperature; return OK;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
    WHOLE(device);
    if (gpus[number(device)].denied) return NO_PERMISSION;
    *milliwatts = gpus[number(device)].power;
    return OK;
}
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) { WHOLE(device); *milliwatts = 700000; return OK; }
int nvmlDeviceGetCurrPcieLinkGeneration(void *device, unsigned *n) { WHOLE(device); *n = gpus[number(device)].generation; return OK; }
int nvmlDeviceGetCurrPcieLinkWidth(void *device, unsigned *n) { WHOLE(device); *n = gpus[number(device)].width; return OK; }
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *up) {
    WHOLE(device);
    if (!gpus[number(device)].links) return UNSUPPORTED;
    *up = (int)link < gpus[number(device)].links;
    return OK;
}
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later) {
    ASK(device);
    *now = *later = gpus[number(device)].mig > 0;
    return gpus[number(device)].bare ? UNSUPPORTED : OK;
}
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *n) { ASK(device); *n = 7; return OK; }
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned i, void **instance) {
    ASK(device);
    if ((long)i >= gpus[number(device)].mig) return NOT_FOUND;
    *instance = &instances[number(device)][i];
    return OK;
}
int nvmlDeviceGetGpuInstanceId(void *device, unsigned *id) { *id = (unsigned)(((char *)device - &instances[0][0]) % 8) + 1; return OK; }

typedef struct { unsigned id, scope; long long time, latency; unsigned type; int code; union { double d; unsigned ui; unsigned long long ull; } value; } Field;
int nvmlDeviceGetFieldValues(void *device, int n, Field *fields) {
    ASK(device);
    State *gpu = &gpus[number(device)];
    for (int i = 0; i < n; i++) {
        Field *field = &fields[i];
        field->type = 3;
        field->code = gpu->bare ? UNSUPPORTED : OK;
        switch (field->id) {
        case 3: case 5: case 6: case 142: case 143: case 145: field->value.ull = 0; break;
        case 4: field->value.ull = gpu->dbe; break;
        case 144: field->value.ull = gpu->pending; break;
        case 38: field->value.ull = gpu->crc; break;
        case 94: field->type = 1; field->value.ui = 7; break;
        case 74: field->value.ull = 2000000000ull; break;
        case 75: field->value.ull = gpu->thermal_ns; break;
        case 270: field->value.ull = gpu->thermal_ns; break;
        case 82: field->type = 1; field->value.ui = 88; break;
        case 230: field->type = 1; field->value.ui = gpu->action; break;
        default: field->code = UNSUPPORTED;
        }
    }
    return OK;
}

static int samples_made = 0;
static char samples[256];
typedef struct { unsigned version, supported; } Support;
typedef struct { unsigned id; int code; double value; const char *info[3]; } Metric;
typedef struct { unsigned version, n; void *older, *newer; Metric metrics[477]; } Query;
int nvmlGpmQueryDeviceSupport(void *device, Support *support) { ASK(device); support->supported = gpus[number(device)].gpm && !gpus[number(device)].bare; return OK; }
int nvmlGpmSampleAlloc(void **sample) { *sample = &samples[samples_made++ % 256]; return OK; }
int nvmlGpmSampleGet(void *device, void *sample) { ASK(device); return sample && !gpus[number(device)].mig ? OK : UNSUPPORTED; }
int nvmlGpmMigSampleGet(void *device, unsigned id, void *sample) { ASK(device); return id && sample ? OK : INVALID; }
int nvmlGpmMetricsGet(Query *query) {
    if (query->older == query->newer) return INVALID;
    for (unsigned i = 0; i < query->n; i++) {
        Metric *metric = &query->metrics[i];
        metric->code = metric->id == 10 ? UNSUPPORTED : OK;
        metric->value = metric->id == 2 ? 91.0 : 55.0;
    }
    return OK;
}

typedef struct { void *device; unsigned long long type, data; unsigned instance, compute; } Event;
int nvmlEventSetCreate(void **set) {
    *set = malloc(sizeof happened);
    memcpy(*set, happened, sizeof happened);
    return OK;
}
int nvmlDeviceGetSupportedEventTypes(void *device, unsigned long long *types) { ASK(device); *types = 0x8; return OK; }
int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set) { ASK(device); return types == 0x8 && set ? OK : INVALID; }
int nvmlEventSetWait_v2(void *set, Event *event, unsigned milliseconds) {
    int *seen = set;
    for (unsigned waited = 0; waited < milliseconds; waited += 50) {
        if (!loaded) return NOT_LOADED;
        for (int i = 0; i < count; i++)
            if (seen[i] < happened[i]) {
                Event found = {.device = &gpus[i], .type = 0x8, .data = gpus[i].xid};
                *event = found;
                seen[i] = happened[i];
                return OK;
            }
        usleep(50000);
    }
    return TIMED_OUT;
}
