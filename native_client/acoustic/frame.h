// One frame of one utterance, for the kernels of the recurrence.
#pragma once

namespace acoustic {

struct Frame {
  const float* gates;  // [blocks, 64], what comes from the input
  const float* state;  // [16 * blocks], the hidden state of the frame before
  float* cell;         // [16 * blocks], of the frame before, which becomes that of this one
  float* hidden;       // [16 * blocks], receives the hidden state of this frame
};

}  // namespace acoustic
