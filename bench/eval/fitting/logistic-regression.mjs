/**
 * A labeled row: its source (the fold), its features, how much it counts, and out of how much (its weight by default).
 *
 * @typedef {{ source: string, complete: boolean, features: Readonly<Record<string, number>>, weight: number, outOf?: number }} Sample
 * @typedef {{ bias: number, weights: Readonly<Record<string, number>> }} Model
 */

/** The penalty on squared weights of standardized features. */
const L2 = 3;
const MAX_STEPS = 20;
const SMALLEST_STEP = 1e-7;

/**
 * Fits an L2-regularized logistic regression by Newton's method. Deterministic. Both classes count the same in total.
 *
 * @param {readonly Sample[]} samples
 * @param {readonly string[]} names
 * @returns {Model}
 */
export function fit(samples, names) {
  const scales = names.map((name) => scaleOf(samples.map(({ features }) => features[name] ?? 0)));
  const rows = samples.map(({ features }) => [
    1,
    ...names.map((name, at) => ((features[name] ?? 0) - (scales[at]?.mean ?? 0)) / (scales[at]?.deviation ?? 1)),
  ]);
  const total = { true: 0, false: 0 };
  for (const { complete, weight } of samples) total[`${complete}`] += weight;
  const weights = samples.map(({ complete, weight }) => (weight * samples.length) / (2 * total[`${complete}`]));
  let model = new Array(names.length + 1).fill(0);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const change = newtonStep(rows, samples, weights, model);
    model = model.map((value, at) => value - (change[at] ?? 0));
    if (Math.max(...change.map(Math.abs)) < SMALLEST_STEP) break;
  }
  return unscaled(model, names, scales);
}

/** @param {readonly number[]} values */
function scaleOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, deviation: Math.sqrt(variance) || 1 };
}

/**
 * Returns the gradient multiplied by the inverse of the Hessian.
 *
 * @param {readonly (readonly number[])[]} rows
 * @param {readonly Sample[]} samples
 * @param {readonly number[]} weights
 * @param {readonly number[]} model
 */
function newtonStep(rows, samples, weights, model) {
  const size = model.length;
  /** The Hessian, with the gradient as last column. @type {number[][]} */
  const matrix = model.map((value, at) => {
    const line = new Array(size + 1).fill(0);
    line[at] = at === 0 ? 1e-9 : L2;
    line[size] = at === 0 ? 0 : L2 * value;
    return line;
  });
  for (const [at, row] of rows.entries()) {
    const own = weights[at] ?? 0;
    const predicted = logistic(row.reduce((sum, value, column) => sum + value * (model[column] ?? 0), 0));
    const error = own * (predicted - (samples[at]?.complete ? 1 : 0));
    const curvature = own * predicted * (1 - predicted);
    for (const [line, value] of row.entries()) {
      const into = /** @type {number[]} */ (matrix[line]);
      for (const [column, other] of row.entries()) into[column] = (into[column] ?? 0) + curvature * value * other;
      into[size] = (into[size] ?? 0) + error * value;
    }
  }
  return solve(matrix);
}

/**
 * Solves linear equations by Gauss-Jordan elimination with pivoting; the last column is the right side.
 *
 * @param {number[][]} matrix
 */
function solve(matrix) {
  const size = matrix.length;
  const cell = (/** @type {number} */ line, /** @type {number} */ column) => matrix[line]?.[column] ?? 0;
  for (let column = 0; column < size; column += 1) {
    let pivot = column;
    for (let line = column + 1; line < size; line += 1)
      if (Math.abs(cell(line, column)) > Math.abs(cell(pivot, column))) pivot = line;
    [matrix[column], matrix[pivot]] = [matrix[pivot] ?? [], matrix[column] ?? []];
    for (let line = 0; line < size; line += 1) {
      if (line === column) continue;
      const factor = cell(line, column) / cell(column, column);
      matrix[line] = (matrix[line] ?? []).map((value, at) => value - factor * cell(column, at));
    }
  }
  return matrix.map((_, line) => cell(line, size) / cell(line, line));
}

/**
 * @param {readonly number[]} model
 * @param {readonly string[]} names
 * @param {readonly { mean: number, deviation: number }[]} scales
 * @returns {Model}
 */
function unscaled(model, names, scales) {
  const weights = names.map((_, at) => (model[at + 1] ?? 0) / (scales[at]?.deviation ?? 1));
  const bias = weights.reduce((sum, weight, at) => sum - weight * (scales[at]?.mean ?? 0), model[0] ?? 0);
  return { bias, weights: Object.fromEntries(names.map((name, at) => [name, weights[at] ?? 0])) };
}

const logistic = (/** @type {number} */ odds) => 1 / (1 + Math.exp(-odds));

/**
 * Returns the probability of "complete", 0..1.
 *
 * @param {Model} model
 * @param {Readonly<Record<string, number>>} features
 */
export function predict({ bias, weights }, features) {
  return logistic(
    Object.entries(weights).reduce((odds, [name, weight]) => odds + weight * (features[name] ?? 0), bias),
  );
}
