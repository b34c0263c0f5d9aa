// Least squares with a penalty on large weights, for rows that have few features each.

/**
 * Minimises the sum over rows of `weight * (sum of the features' weights - target)^2` plus each weight's penalty
 * times its square. Rows are `{ features: number[], target, weight }`; returns a map from feature to weight.
 */
export function ridge(rows, penaltyOf) {
  const place = new Map();
  for (const { features } of rows) {
    for (const feature of features) if (!place.has(feature)) place.set(feature, place.size);
  }
  const size = place.size;
  const matrix = new Float64Array(size * size);
  const right = new Float64Array(size);
  for (const { features, target, weight } of rows) {
    const places = features.map((feature) => place.get(feature));
    for (const i of places) {
      right[i] += weight * target;
      for (const j of places) matrix[i * size + j] += weight;
    }
  }
  for (const [feature, i] of place) matrix[i * size + i] += penaltyOf(feature);
  const solution = solve(matrix, right, size);
  return new Map([...place].map(([feature, i]) => [feature, solution[i]]));
}

/** Solves a symmetric positive definite system by Cholesky's method; overwrites the matrix. */
function solve(matrix, right, size) {
  for (let j = 0; j < size; j++) {
    const rowJ = matrix.subarray(j * size, j * size + j + 1);
    for (let k = 0; k < j; k++) rowJ[j] -= rowJ[k] * rowJ[k];
    rowJ[j] = Math.sqrt(rowJ[j]);
    for (let i = j + 1; i < size; i++) {
      const rowI = matrix.subarray(i * size, i * size + j + 1);
      let sum = rowI[j];
      for (let k = 0; k < j; k++) sum -= rowI[k] * rowJ[k];
      rowI[j] = sum / rowJ[j];
    }
  }
  const x = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    let sum = right[i];
    for (let k = 0; k < i; k++) sum -= matrix[i * size + k] * x[k];
    x[i] = sum / matrix[i * size + i];
  }
  for (let i = size - 1; i >= 0; i--) {
    let sum = x[i];
    for (let k = i + 1; k < size; k++) sum -= matrix[k * size + i] * x[k];
    x[i] = sum / matrix[i * size + i];
  }
  return x;
}
