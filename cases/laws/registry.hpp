// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/laws.hpp"

namespace ropecheck {

// One file each, in cases/laws/.
extern const Law kRunToRun;
extern const Law kPaddingRemoved;
extern const Law kBatchOrder;
extern const Law kBatchNeighbours;
extern const Law kPadContent;
extern const Law kPackedIsSeparate;
extern const Law kChunking;
extern const Law kTokenByToken;
extern const Law kShiftIsEncoded;
extern const Law kCommonShift;
extern const Law kGqaIsMha;
extern const Law kHeadOrder;
extern const Law kLayoutPermutation;
extern const Law kLinearIsScaledPosition;
extern const Law kFactorOne;
extern const Law kLinearInValues;
extern const Law kPairNorm;
extern const Law kTailUntouched;
extern const Law kValueUntouched;
extern const Law kOriginIdentity;
extern const Law kComposition;
extern const Law kInverse;

}  // namespace ropecheck
