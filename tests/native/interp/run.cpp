// The interpreter on kernels in text form: ids, control flow, barriers, memory, calls.
#include "interp/interp.h"

#include <cstring>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "kernel/descriptor.h"

using namespace lcpy;

namespace {

const char* const kIsas[] = {"baseline", "avx2", "avx512"};

// Runs a kernel whose slots are global buffers; every instruction set must agree on the results.
template <class T>
std::vector<T> run_all(const char* text, std::vector<std::vector<T>> buffers, size_t result,
                       std::array<uint32_t, 3> dispatch, const std::vector<std::byte>& extra = {}) {
  const KernelDescriptor d = parse_kernel(text);
  verify_or_throw(d, "the test");
  std::vector<std::byte> block(argument_block(d).size);
  std::copy(extra.begin(), extra.end(), block.begin() + ArgumentBlock::kHeader);
  std::vector<T> first;
  for (const char* isa : kIsas) {
    std::shared_ptr<const interp::Program> program;
    try {
      program = interp::build_program(d, isa);
    } catch (const ArgumentError&) {
      continue;  // this processor lacks it
    }
    for (unsigned threads : {1u, 2u}) {
      auto data = buffers;
      std::vector<interp::Binding> bindings;
      for (auto& b : data) bindings.push_back({b.data(), b.size() * sizeof(T)});
      interp::run(*program, {dispatch, bindings, block, threads});
      if (first.empty()) first = data[result];
      CHECK(std::memcmp(first.data(), data[result].data(), first.size() * sizeof(T)) == 0);
    }
  }
  return first;
}

std::vector<uint32_t> iota(size_t n) {
  std::vector<uint32_t> v(n);
  std::iota(v.begin(), v.end(), 0u);
  return v;
}

}  // namespace

TEST(saxpy_with_a_tail) {
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "x" global buffer<float> read number 0
slot 1 "y" global buffer<float> read_write number 1
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: float = Load $0, %1
  %3: float = Mul %2, float(2.5)
  %4: float = Load $1, %1
  %5: float = Add %3, %4
  Store $1, %5, %1
  Return
}
)";
  std::vector<float> x(1000), y(1000);
  for (int i = 0; i < 1000; i++) x[i] = float(i), y[i] = 1;
  const auto r = run_all<float>(text, {x, y}, 1, {990, 1, 1});
  for (int i = 0; i < 1000; i++) CHECK_EQ(r[i], i < 990 ? i * 2.5f + 1 : 1.0f);
}

TEST(loop_that_lanes_leave_one_by_one) {
  // n steps of the Collatz map, lane by lane.
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<uint> write number 0
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = Add %1, uint(1)
  %3: uint = Loop (%4: uint, %5: uint) {
    %6: bool = Equal %4, uint(1)
    If %6, {
      Break %5
    }, {
      Yield
    }
    %7: uint = BitAnd %4, uint(1)
    %8: bool = Equal %7, uint(1)
    %9: uint = If %8, {
      %10: uint = Mul %4, uint(3)
      %11: uint = Add %10, uint(1)
      Yield %11
    }, {
      %12: uint = Shr %4, uint(1)
      Yield %12
    }
    %13: uint = Add %5, uint(1)
    Continue %9, %13
  }, %2, uint(0)
  Store $0, %3, %1
  Return
}
)";
  const auto r = run_all<uint32_t>(text, {iota(300)}, 0, {300, 1, 1});
  for (uint32_t i = 0; i < 300; i++) {
    uint32_t n = i + 1, steps = 0;
    for (; n != 1; ++steps) n = n & 1 ? n * 3 + 1 : n / 2;
    CHECK_EQ(r[i], steps);
  }
}

TEST(nested_divergence_with_continue_and_return) {
  const char* text = R"(kernel "k" block 32 1 1 math ieee
slot 0 "out" global buffer<uint> read_write number 0
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = Call &1, %1
  Store $0, %2, %1
  Return
}
function 1 "f" (%3: uint) -> (uint) {
  %4: bool = Less %3, uint(3)
  If %4, {
    Return uint(1000)
  }, {
    Yield
  }
  %5: uint = Loop (%6: uint, %7: uint) {
    %8: bool = GreaterEqual %6, uint(20)
    If %8, {
      Break %7
    }, {
      Yield
    }
    %9: uint = Add %6, uint(1)
    %10: uint = FloorMod %6, %3
    %11: bool = Equal %10, uint(0)
    If %11, {
      Continue %9, %7
    }, {
      Yield
    }
    %12: uint = Loop (%13: uint, %14: uint) {
      %15: bool = Greater %13, %6
      If %15, {
        Break %14
      }, {
        Yield
      }
      %16: uint = Mul %13, %3
      %17: bool = Greater %16, uint(150)
      If %17, {
        %18: uint = Add %7, %16
        Return %18
      }, {
        Yield
      }
      %19: uint = Add %14, %13
      %20: uint = Add %13, uint(2)
      Continue %20, %19
    }, uint(0), uint(0)
    %21: uint = Add %7, %12
    Continue %9, %21
  }, uint(0), uint(0)
  Return %5
}
)";
  const auto f = [](uint32_t n) -> uint32_t {
    if (n < 3) return 1000;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 20; i++) {
      if (i % n == 0) continue;
      uint32_t inner = 0;
      for (uint32_t j = 0; j <= i; j += 2) {
        if (j * n > 150) return sum + j * n;
        inner += j;
      }
      sum += inner;
    }
    return sum;
  };
  const auto r = run_all<uint32_t>(text, {iota(200)}, 0, {200, 1, 1});
  for (uint32_t i = 0; i < 200; i++) CHECK_EQ(r[i], f(i));
}

TEST(switch_with_results) {
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<uint> read_write number 0
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = BitAnd %1, uint(7)
  %3: uint, %4: bool = Switch %2, {
    Yield uint(99), bool(false)
  }, uint(1), uint(2), {
    %5: uint = Mul %1, uint(10)
    Yield %5, bool(true)
  }, uint(5), {
    %6: bool = Greater %1, uint(50)
    Yield %1, %6
  }
  %7: uint = Select %4, %3, uint(7)
  Store $0, %7, %1
  Return
}
)";
  const auto r = run_all<uint32_t>(text, {iota(100)}, 0, {100, 1, 1});
  for (uint32_t i = 0; i < 100; i++) {
    const uint32_t s = i & 7;
    CHECK_EQ(r[i], s == 1 || s == 2 ? i * 10 : s == 5 && i > 50 ? i : 7u);
  }
}

TEST(ids_for_any_block_shape) {
  const char* text = R"(kernel "k" block 3 5 2 math ieee
slot 0 "out" global buffer<uint> read_write number 0
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: vector<uint,3> = ThreadId
  %2: vector<uint,3> = BlockId
  %3: vector<uint,3> = DispatchSize
  %4: uint = Extract %0, 0
  %5: uint = Extract %0, 1
  %6: uint = Extract %0, 2
  %7: uint = Extract %3, 0
  %8: uint = Extract %3, 1
  %9: uint = Mul %6, %8
  %10: uint = Add %9, %5
  %11: uint = Mul %10, %7
  %12: uint = Add %11, %4
  %13: uint = Extract %1, 0
  %14: uint = Extract %1, 1
  %15: uint = Extract %1, 2
  %16: uint = Extract %2, 0
  %17: uint = Extract %2, 1
  %18: uint = Extract %2, 2
  %19: uint = Mul %13, uint(1000)
  %20: uint = Mul %14, uint(100)
  %21: uint = Mul %15, uint(10)
  %22: uint = Add %19, %20
  %23: uint = Add %22, %21
  %24: uint = Mul %16, uint(1000000)
  %25: uint = Mul %17, uint(100000)
  %26: uint = Mul %18, uint(10000)
  %27: uint = Add %24, %25
  %28: uint = Add %27, %26
  %29: uint = Add %23, %28
  Store $0, %29, %12
  Return
}
)";
  for (const auto [w, h, depth] :
       {std::array<uint32_t, 3>{71, 7, 4}, {5, 30, 3}, {1, 1, 200}, {32, 3, 1}}) {
    const auto r =
        run_all<uint32_t>(text, {std::vector<uint32_t>(w * h * depth)}, 0, {w, h, depth});
    for (uint32_t z = 0; z < depth; z++)
      for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
          CHECK_EQ(r[(z * h + y) * w + x], x % 3 * 1000 + y % 5 * 100 + z % 2 * 10 +
                                               x / 3 * 1000000 + y / 5 * 100000 + z / 2 * 10000);
  }
}

TEST(barrier_in_a_loop_and_shared_memory) {
  // A tree sum over a block of 100 threads; half the steps are in a loop.
  const char* text = R"(kernel "k" block 100 1 1 math ieee
slot 0 "x" global buffer<uint> read_write number 0
slot 1 "s" shared array<uint,128> read_write number 16777216
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: vector<uint,3> = ThreadId
  %3: uint = Extract %2, 0
  %4: uint = Load $0, %1
  Store $1, uint(0), %3
  %5: uint = Add %3, uint(28)
  Store $1, uint(0), %5
  SyncBlock
  Store $1, %4, %3
  Loop (%6: uint) {
    SyncBlock
    %7: bool = Equal %6, uint(0)
    If %7, {
      Break
    }, {
      Yield
    }
    %8: bool = Less %3, %6
    If %8, {
      %9: uint = Add %3, %6
      %10: uint = Load $1, %3
      %11: uint = Load $1, %9
      %12: uint = Add %10, %11
      Store $1, %12, %3
      Yield
    }, {
      Yield
    }
    %13: uint = Shr %6, uint(1)
    Continue %13
  }, uint(64)
  %14: uint = Load $1, uint(0)
  Store $0, %14, %1
  Return
}
)";
  const auto r = run_all<uint32_t>(text, {iota(300)}, 0, {300, 1, 1});
  for (uint32_t i = 0; i < 300; i++) CHECK_EQ(r[i], i / 100 * 10000 + 4950);
}

TEST(scratch_memory_by_lane) {
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<uint> read_write number 0
slot 1 "a" scratch array<vector<uint,3>,4> read_write number 16777216 owner 0
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  Loop (%2: uint) {
    %3: bool = Less %2, uint(4)
    If %3, {
      Yield
    }, {
      Break
    }
    %4: uint = Mul %2, %1
    %5: vector<uint,3> = Construct %2, %4, %1
    Store $1, %5, %2
    %6: uint = Add %2, uint(1)
    Continue %6
  }, uint(0)
  %7: uint = BitAnd %1, uint(3)
  %8: bool = Greater %1, uint(40)
  If %8, {
    Store $1, uint(7), %7, %7
    Yield
  }, {
    Yield
  }
  %9: vector<uint,3> = Load $1, %7
  %10: uint = ReduceSum %9
  Store $0, %10, %1
  Return
}
)";
  // The dynamic lane %7 reaches 3 only where nothing is stored out of range: lanes 0 to 2 exist.
  std::string source = text;
  source.replace(source.find("uint(3)\n  %8"), 7, "uint(1)");
  const auto r = run_all<uint32_t>(source.c_str(), {iota(100)}, 0, {100, 1, 1});
  for (uint32_t i = 0; i < 100; i++) {
    const uint32_t k = i & 1;
    uint32_t v[3] = {k, k * i, i};
    if (i > 40) v[k] = 7;
    CHECK_EQ(r[i], v[0] + v[1] + v[2]);
  }
}

TEST(atomics_in_lane_order) {
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "h" global buffer<uint> read_write number 0 atomics
slot 1 "old" global buffer<uint> write number 1
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = BitAnd %1, uint(3)
  %3: uint = AtomicAdd $0, uint(1), %2
  %4: uint = AtomicMax $0, %1, uint(4)
  %5: uint = AtomicCompareExchange $0, uint(0), uint(9), uint(5)
  Store $1, %3, %1
  Return
}
)";
  const auto r = run_all<uint32_t>(text, {std::vector<uint32_t>(6), iota(64)}, 1, {64, 1, 1});
  for (uint32_t i = 0; i < 64; i++) CHECK_EQ(r[i], i / 4);
  const auto h = run_all<uint32_t>(text, {std::vector<uint32_t>(6), iota(1000)}, 0, {1000, 1, 1});
  for (int i = 0; i < 4; i++) CHECK_EQ(h[i], 250u);
  CHECK_EQ(h[4], 999u);
  CHECK_EQ(h[5], 9u);
}

TEST(uniform_arguments_and_lengths) {
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "n" uniform uint read number 0
slot 1 "out" global buffer<uint> write number 1 length
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = Load $0
  %3: uint = BufferLength $1
  %4: bool = Less %1, %2
  If %4, {
    Store $1, %3, %1
    Yield
  }, {
    Return
  }
  Return
}
)";
  std::vector<std::byte> extra(16);
  const uint32_t n = 5;
  const uint64_t length = 77;
  std::memcpy(extra.data(), &n, 4);
  std::memcpy(extra.data() + 8, &length, 8);
  const auto r = run_all<uint32_t>(text, {iota(100)}, 0, {100, 1, 1}, extra);
  for (uint32_t i = 0; i < 100; i++) CHECK_EQ(r[i], i < 5 ? 77u : i);
}

TEST(swapped_carried_values) {
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<uint> write number 0
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint, %3: uint = Loop (%4: uint, %5: uint, %6: uint) {
    %7: bool = Less %4, %1
    If %7, {
      Yield
    }, {
      Break %5, %6
    }
    %8: uint = Add %4, uint(1)
    Continue %8, %6, %5
  }, uint(0), uint(11), uint(22)
  %9: uint = Mul %2, uint(100)
  %10: uint = Add %9, %3
  Store $0, %10, %1
  Return
}
)";
  const auto r = run_all<uint32_t>(text, {iota(70)}, 0, {70, 1, 1});
  for (uint32_t i = 0; i < 70; i++) CHECK_EQ(r[i], i % 2 ? 2211u : 1122u);
}

TEST(atomics_on_shared_memory) {
  const char* text = R"(kernel "k" block 128 1 1 math ieee
slot 0 "out" global buffer<uint> read_write number 0 atomics
slot 1 "h" shared array<uint,4> read_write number 16777216 atomics
slot 2 "f" shared float read_write number 16777217 atomics
function 0 "k" () -> () {
  %0: vector<uint,3> = ThreadId
  %1: uint = Extract %0, 0
  %2: bool = Less %1, uint(4)
  If %2, {
    Store $1, uint(0), %1
    Yield
  }, {
    Yield
  }
  Store $2, float(0)
  SyncBlock
  %3: uint = BitAnd %1, uint(3)
  %4: bool = NotEqual %3, uint(2)
  If %4, {
    %5: uint = AtomicAdd $1, %1, %3
    Yield
  }, {
    Yield
  }
  %6: float = AtomicAdd $2, float(0.5)
  %7: float = AtomicMax $2, float(-1)
  SyncBlock
  If %2, {
    %8: uint = Load $1, %1
    %9: uint = AtomicAdd $0, %8, %1
    Yield
  }, {
    Yield
  }
  %10: bool = Equal %1, uint(5)
  If %10, {
    %11: float = Load $2
    %12: uint = Convert %11
    Store $0, %12, %1
    Yield
  }, {
    Yield
  }
  Return
}
)";
  const auto r = run_all<uint32_t>(text, {std::vector<uint32_t>(8)}, 0, {384, 1, 1});
  uint32_t expected[4] = {};
  for (uint32_t i = 0; i < 128; i++)
    if ((i & 3) != 2) expected[i & 3] += 3 * i;
  for (int i = 0; i < 4; i++) CHECK_EQ(r[i], expected[i]);
  CHECK_EQ(r[5], 64u);
}

TEST(shared_values_past_the_end_of_a_ragged_dispatch) {
  // Every thread of the last block runs; its whole block is 96 wide.
  const char* text = R"(kernel "k" block 96 1 1 math ieee
slot 0 "out" global buffer<uint> read_write number 0 atomics
slot 1 "n" shared uint read_write number 16777216 atomics
function 0 "k" () -> () {
  Store $1, uint(0)
  SyncBlock
  %0: uint = AtomicAdd $1, uint(1)
  SyncBlock
  %1: vector<uint,3> = ThreadId
  %2: uint = Extract %1, 0
  %3: bool = Equal %2, uint(0)
  If %3, {
    %4: vector<uint,3> = BlockId
    %5: uint = Extract %4, 0
    %6: uint = Load $1
    Store $0, %6, %5
    Yield
  }, {
    Yield
  }
  Return
}
)";
  const auto r = run_all<uint32_t>(text, {std::vector<uint32_t>(4)}, 0, {200, 1, 1});
  CHECK(r[0] == 96 && r[1] == 96 && r[2] == 96 && r[3] == 0);
}

TEST(index_rows_that_are_equal_or_count_up) {
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "x" global buffer<uint> read number 0
slot 1 "out" global buffer<uint> write number 1
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = Load $0, uint(0)
  %3: uint = FloorDiv %1, %2
  %4: uint = FloorMod %1, %2
  %5: uint = Load $0, %3
  %6: uint = Load $0, %4
  %7: uint = Mul %5, uint(1000)
  %8: uint = Add %7, %6
  Store $1, %8, %1
  Return
}
)";
  for (uint32_t w : {64u, 256u, 50u}) {
    auto x = iota(600);
    x[0] = w;
    const auto r = run_all<uint32_t>(text, {x, iota(500)}, 1, {500, 1, 1});
    for (uint32_t i = 0; i < 500; i++) CHECK_EQ(r[i], x[i / w] * 1000 + x[i % w]);
  }
}

TEST(long_loops_do_not_grow_the_stack) {
  const char* text = R"(kernel "k" block 64 1 1 math ieee
slot 0 "out" global buffer<uint> read_write number 0 atomics
slot 1 "n" uniform uint read number 1
function 0 "k" () -> () {
  %0: vector<uint,3> = DispatchId
  %1: uint = Extract %0, 0
  %2: uint = Load $1
  %3: uint = Loop (%4: uint, %5: uint) {
    %6: bool = Less %4, %2
    If %6, {
      Yield
    }, {
      Break %5
    }
    %7: uint = Load $0, %5
    %8: uint = Add %5, %7
    %9: uint = BitAnd %8, uint(63)
    %10: uint = Add %4, uint(1)
    %11: bool = Equal %9, uint(77)
    If %11, {
      %12: uint = AtomicAdd $0, uint(1), %9
      Break %12
    }, {
      Yield
    }
    Continue %10, %9
  }, uint(0), %1
  Store $0, %3, %1
  Return
}
)";
  std::vector<std::byte> extra(16);
  const uint32_t n = 400000;
  std::memcpy(extra.data(), &n, 4);
  const auto r = run_all<uint32_t>(text, {std::vector<uint32_t>(64)}, 0, {64, 1, 1}, extra);
  for (uint32_t i = 0; i < 64; i++) CHECK_EQ(r[i], i);
}
