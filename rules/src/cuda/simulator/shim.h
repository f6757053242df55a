// What kernels need of CUDA, on a CPU: the threads of a block are fibres that are scheduled in whatever order is asked for. A barrier
// that only some threads reach, and a shared element that is read before the barrier which it takes, show up.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t size);
extern "C" void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *size);
extern "C" void __asan_unpoison_memory_region(const volatile void *place, size_t size);
#else
static void __asan_unpoison_memory_region(const volatile void *, size_t) {}
static void __sanitizer_start_switch_fiber(void **, const void *, size_t) {}
static void __sanitizer_finish_switch_fiber(void *, const void **, size_t *) {}
#endif

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)

using std::acos; using std::acosh; using std::asin; using std::asinh; using std::atan; using std::atan2; using std::atanh;
using std::cbrt; using std::copysign; using std::cos; using std::cosh; using std::erf; using std::erfc; using std::exp; using std::exp2;
using std::expm1; using std::fabs; using std::floor; using std::log; using std::log10; using std::log1p; using std::log2; using std::pow;
using std::sin; using std::sinh; using std::sqrt; using std::tan; using std::tanh;

struct Index {
    unsigned x, y, z;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

static double __longlong_as_double(long long bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }

enum State { READY, AT_BLOCK, AT_WARP, DONE };

// Goes on with another stack. On x86-64 without a system call, of which ucontext makes two each time.
#if defined(__x86_64__)
typedef void *Context;
extern "C" void pb_switch(Context *from, Context to);
asm(R"(
.text
.globl pb_switch
pb_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");
static void prepare(Context &context, char *stack, size_t size, void (*begin)()) {
    void **top = (void **)(stack + size);
    top[-1] = nullptr;
    top[-2] = (void *)begin;
    for (int i = 3; i <= 8; ++i) top[-i] = nullptr;
    context = top - 8;
}
static void go(Context &from, Context &to) { pb_switch(&from, to); }
#else
typedef ucontext_t Context;
static void prepare(Context &context, char *stack, size_t size, void (*begin)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = size;
    context.uc_link = nullptr;
    makecontext(&context, begin, 0);
}
static void go(Context &from, Context &to) { swapcontext(&from, &to); }
#endif

struct Fibre {
    Context context;
    void *fake = nullptr;
    char *stack = nullptr;
    State state = DONE;
    Index index = {0, 0, 0};
    unsigned exchanges = 0;
};

static const size_t STACK = 64 * 1024;
static std::vector<Fibre> fibres;
static unsigned current;
static Context home;
static void *home_fake;
static const void *home_bottom;
static size_t home_size;
static void (*entry)(const void *);
static const void *entry_arguments;
static uint64_t chance = 1;
static int schedule;

static unsigned draw(unsigned below) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33) % below;
}

static void fail(const char *what) {
    fprintf(stderr, "simulated device: %s in block (%u, %u)\n", what, blockIdx.x, blockIdx.y);
    abort();
}

static void leave(State state) {
    Fibre &fibre = fibres[current];
    fibre.state = state;
    __sanitizer_start_switch_fiber(state == DONE ? nullptr : &fibre.fake, home_bottom, home_size);
    go(fibre.context, home);
    __sanitizer_finish_switch_fiber(fibre.fake, &home_bottom, &home_size);
}

static void begin() {
    __sanitizer_finish_switch_fiber(nullptr, &home_bottom, &home_size);
    entry(entry_arguments);
    leave(DONE);
}

static void __syncthreads() { leave(AT_BLOCK); }
static void __threadfence() {}

template <typename T> static T exchanged(T value, unsigned from) {
    // Two sets, so that nobody overwrites what another one has not read yet.
    alignas(8) static unsigned char slots[2][1024][8];
    static_assert(sizeof(T) <= 8, "a register");
    auto &set = slots[fibres[current].exchanges++ % 2];
    memcpy(set[current], &value, sizeof value);
    leave(AT_WARP);
    T other;
    memcpy(&other, set[current / 32 * 32 + from], sizeof other);
    return other;
}
template <typename T> static T __shfl_xor_sync(unsigned, T value, int distance) {
    return exchanged(value, (current % 32) ^ (unsigned)distance);
}
template <typename T> static T __shfl_sync(unsigned, T value, int lane) { return exchanged(value, (unsigned)lane); }

static unsigned atomicAdd(unsigned *place, unsigned value) {
    const unsigned old = *place;
    *place = old + value;
    return old;
}

// All threads that wait go on once all have come; a thread that is done never comes.
static bool release(State at, unsigned first, unsigned count) {
    unsigned waiting = 0, done = 0;
    for (unsigned i = first; i < first + count; ++i) {
        waiting += fibres[i].state == at;
        done += fibres[i].state == DONE;
    }
    if (waiting > 0 && waiting + done == count && done > 0) fail("a barrier that not all threads reach");
    if (waiting < count) return false;
    for (unsigned i = first; i < first + count; ++i) fibres[i].state = READY;
    return true;
}

static void run_block(unsigned threads) {
    if (fibres.size() < threads) fibres.resize(threads);
    for (unsigned i = 0; i < threads; ++i) {
        Fibre &fibre = fibres[i];
        if (!fibre.stack) {
            fibre.stack = (char *)mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }
        // Functions that a thread was in when it ended have left marks there.
        __asan_unpoison_memory_region(fibre.stack, STACK);
        prepare(fibre.context, fibre.stack, STACK, begin);
        fibre.exchanges = 0;
        fibre.fake = nullptr;
        fibre.state = READY;
        fibre.index = {i % blockDim.x, i / blockDim.x, 0};
    }
    std::vector<unsigned> order(threads);
    for (;;) {
        for (unsigned i = 0; i < threads; ++i) order[i] = schedule == 1 ? threads - 1 - i : i;
        if (schedule > 1) {
            for (unsigned i = threads - 1; i > 0; --i) std::swap(order[i], order[draw(i + 1)]);
        }
        unsigned ran = 0;
        for (unsigned i : order) {
            Fibre &fibre = fibres[i];
            if (fibre.state != READY) continue;
            current = i;
            threadIdx = fibre.index;
            __sanitizer_start_switch_fiber(&home_fake, fibre.stack, STACK);
            go(home, fibre.context);
            __sanitizer_finish_switch_fiber(home_fake, nullptr, nullptr);
            ++ran;
            // A random schedule lets some go on before others have begun.
            if (schedule > 1 && fibre.state == AT_WARP) release(AT_WARP, i / 32 * 32, 32);
        }
        bool all_done = true, released = release(AT_BLOCK, 0, threads);
        for (unsigned warp = 0; warp < threads; warp += 32) released |= release(AT_WARP, warp, 32);
        for (unsigned i = 0; i < threads; ++i) all_done &= fibres[i].state == DONE;
        if (all_done) return;
        if (ran == 0 && !released) fail("a deadlock");
    }
}

static void run_grid(void (*kernel)(const void *), const void *arguments, Index grid, Index block) {
    entry = kernel;
    entry_arguments = arguments;
    gridDim = grid;
    blockDim = block;
    const unsigned blocks = grid.x * grid.y;
    std::vector<unsigned> order(blocks);
    for (unsigned i = 0; i < blocks; ++i) order[i] = schedule == 1 ? blocks - 1 - i : i;
    if (schedule > 1) {
        for (unsigned i = blocks - 1; i > 0; --i) std::swap(order[i], order[draw(i + 1)]);
    }
    for (unsigned i : order) {
        blockIdx = {i % grid.x, i / grid.x, 0};
        run_block(block.x * block.y);
    }
}
