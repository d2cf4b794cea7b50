// The table: unique names, look-ups both ways.
#include "ops/op.h"

#include <set>
#include <string>

#include "check.h"

using namespace lcpy;

TEST(rows_are_found_by_name) {
  for (int i = 0; i < kOpCount; ++i) {
    const OpRow& row = op_row(static_cast<Op>(i));
    CHECK(find_op(row.name) == row.op);
    if (!row.python_name.empty()) CHECK(find_python_op(row.python_name) == row.op);
  }
  CHECK(find_op("Add") == Op::Add);
  CHECK(find_python_op("min") == Op::Min);
  CHECK_EQ(static_cast<int>(find_op("Nothing")), kOpCount);
  CHECK_EQ(static_cast<int>(find_python_op("")), kOpCount);
}

TEST(usages_are_stated) {
  CHECK(op_row(Op::BufferWrite).usage == OpUsage::Write0);
  CHECK(op_row(Op::AtomicAdd).usage == OpUsage::ReadWrite0);
  CHECK(op_row(Op::BufferLength).usage == OpUsage::Nothing);
  CHECK(op_row(Op::SyncBlock).sync == OpSync::Uniform);
}

TEST(refused_rows_have_reasons) {
  for (int i = 0; i < kOpCount; ++i) {
    const OpRow& row = op_row(static_cast<Op>(i));
    if (row.level == OpLevel::Refused) CHECK(row.reason.size() > 10);
  }
}
