// Tracking of points on the walls of a heart from one ultrasound frame to the next by template matching, a block a point.
#include "warpwatt.cuh"

#define THREADS 128
#define MOST_TEMPLATE 21                           // edge of a template, odd
#define MOST_MARGIN 5                              // how far the window goes beyond the template
#define MOST_WINDOW (MOST_TEMPLATE + 2 * MOST_MARGIN)

// position: column and row of each point, moved. templates: edge x edge a point, drawn after the new frame.
// Displacements go up to `reach` in each direction. Where the displaced template leaves the window, what overlaps counts.
extern "C" __global__ __launch_bounds__(THREADS) void heartwall_track(const unsigned char *frame, int width, int height,
                                                                      int *position, float *templates, int edge,
                                                                      int margin, int reach, float keep) {
  __shared__ float window[MOST_WINDOW * MOST_WINDOW];
  __shared__ float pattern[MOST_TEMPLATE * MOST_TEMPLATE];
  __shared__ float sums[(MOST_WINDOW + 1) * (MOST_WINDOW + 1)], squares[(MOST_WINDOW + 1) * (MOST_WINDOW + 1)];
  __shared__ float best[THREADS];
  __shared__ int place[THREADS];
  int t = threadIdx.x, side = edge + 2 * margin, stride = side + 1;
  int left = position[2 * blockIdx.x] - side / 2, top = position[2 * blockIdx.x + 1] - side / 2;
  float *mine = templates + blockIdx.x * edge * edge;

  for (int i = t; i < side * side; i += THREADS)
    window[i] = frame[(top + i / side) * width + left + i % side];
  for (int i = t; i < edge * edge; i += THREADS) pattern[i] = mine[i];
  if (t <= side) {
    sums[t] = sums[t * stride] = 0.0f;
    squares[t] = squares[t * stride] = 0.0f;
  }
  __syncthreads();

  // Sums over all rectangles at the upper left corner: down the columns, then along the rows.
  if (t < side) {
    float sum = 0.0f, square = 0.0f;
    for (int i = 0; i < side; ++i) {
      float w = window[i * side + t];
      sum += w;
      square = __fmaf_rn(w, w, square);
      sums[(i + 1) * stride + t + 1] = sum;
      squares[(i + 1) * stride + t + 1] = square;
    }
  }
  __syncthreads();
  if (t < side) {
    float sum = 0.0f, square = 0.0f;
    for (int j = 1; j <= side; ++j) {
      int at = (t + 1) * stride + j;
      sum += sums[at];
      square += squares[at];
      sums[at] = sum;
      squares[at] = square;
    }
  }
  __syncthreads();

  // Normalized correlation at every displacement; the first of the best.
  int across = 2 * reach + 1;
  float most = -2.0f;
  int where = 0;
  for (int d = t; d < across * across; d += THREADS) {
    int x = d % across - reach + margin, y = d / across - reach + margin;
    int first_row = max(0, -y), last_row = min(edge, side - y);
    int first_column = max(0, -x), last_column = min(edge, side - x);
    float product = 0.0f, sum = 0.0f, square = 0.0f;
    for (int i = first_row; i < last_row; ++i) {
      for (int j = first_column; j < last_column; ++j) {
        float p = pattern[i * edge + j];
        product = __fmaf_rn(p, window[(i + y) * side + j + x], product);
        sum += p;
        square = __fmaf_rn(p, p, square);
      }
    }
    int above = (first_row + y) * stride, below = (last_row + y) * stride;
    int before = first_column + x, behind = last_column + x;
    float other = sums[below + behind] - sums[below + before] - sums[above + behind] + sums[above + before];
    float others = squares[below + behind] - squares[below + before] - squares[above + behind] + squares[above + before];
    float count = (float)((last_row - first_row) * (last_column - first_column));
    float covariance = product - sum * other / count;
    float spread = (square - sum * sum / count) * (others - other * other / count);
    float score = spread > 1.0f ? covariance / __fsqrt_rn(spread) : -1.0f;
    if (score > most) {
      most = score;
      where = d;
    }
  }
  best[t] = most;
  place[t] = where;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) {
      bool better = best[t + half] > best[t] || (best[t + half] == best[t] && place[t + half] < place[t]);
      if (better) {
        best[t] = best[t + half];
        place[t] = place[t + half];
      }
    }
    __syncthreads();
  }

  // A window around the new place must lie within the frame.
  int x = left + side / 2 + place[0] % across - reach, y = top + side / 2 + place[0] / across - reach;
  x = min(max(x, side / 2), width - 1 - side / 2);
  y = min(max(y, side / 2), height - 1 - side / 2);
  for (int i = t; i < edge * edge; i += THREADS) {
    float seen = frame[(y - edge / 2 + i / edge) * width + x - edge / 2 + i % edge];
    mine[i] = __fmaf_rn(keep, pattern[i] - seen, seen);
  }
  if (t == 0) {
    position[2 * blockIdx.x] = x;
    position[2 * blockIdx.x + 1] = y;
  }
}
