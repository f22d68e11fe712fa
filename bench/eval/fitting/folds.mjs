import { readRows } from '../rows.mjs';
import { fit, predict } from './logistic-regression.mjs';
import { closingSamples, completionSamples, sufficiencySamples } from './samples.mjs';

/**
 * @typedef {import('./logistic-regression.mjs').Sample} Sample
 * @typedef {import('./logistic-regression.mjs').Model} Model
 *
 * The quality of a model on a source that it was not fitted to. `value`: balanced accuracy.
 * @typedef {{ value: number, complete: number, incomplete: number, rows: number }} Quality
 *
 * One set of weights of the default grader. `effects`: by how much each feature raises the value on the sources left out.
 * @typedef {{ name: string, overall: Quality, folds: Readonly<Record<string, Quality>>, effects: Readonly<Record<string, number>>, model: Model }} Fitted
 */

/** The odds of the default threshold of sufficiency, 0.7, which its bias includes. */
const SUFFICIENCY_ODDS = Math.log(0.7 / 0.3);

/**
 * Fits the weights of the default grader to the data sets in a folder, once without each source, and once to all.
 *
 * @param {string} folder
 * @param {{ answerFeatures: import('./samples.mjs').AnswerFeatures }} policies
 * @returns {readonly Fitted[]}
 */
export function fitAll(folder, { answerFeatures }) {
  const rows = (/** @type {string} */ name) => readRows(folder, name)?.rows ?? [];
  const tasks = {
    completion: completionSamples(rows('yield_traces'), answerFeatures),
    sufficiency: sufficiencySamples(rows('yield_sufficiency'), rows('multihop'), answerFeatures),
    closing: closingSamples(rows('yield_sgd'), answerFeatures),
  };
  return Object.entries(tasks).flatMap(([name, samples]) => {
    if (new Set(samples.map(({ source }) => source)).size < 2) return [];
    const { bias, weights } = fit(samples, namesOf(samples));
    const model = { bias: name === 'sufficiency' ? bias + SUFFICIENCY_ODDS : bias, weights };
    return [{ name, ...leaveOneSourceOut(samples), model }];
  });
}

const namesOf = (/** @type {readonly Sample[]} */ samples) => Object.keys(samples[0]?.features ?? {});

/** @param {readonly Sample[]} samples */
function leaveOneSourceOut(samples) {
  const names = namesOf(samples);
  const predicted = predictLeftOut(samples, names);
  const overall = qualityOf(predicted);
  const effects = names.map((name) => {
    const without = predictLeftOut(
      samples,
      names.filter((other) => other !== name),
    );
    return [name, overall.value - qualityOf(without).value];
  });
  const sources = [...new Set(predicted.map(({ sample }) => sample.source))];
  const folds = sources.map((source) => [
    source,
    qualityOf(predicted.filter(({ sample }) => sample.source === source)),
  ]);
  return { overall, folds: Object.fromEntries(folds), effects: Object.fromEntries(effects) };
}

/**
 * Predicts each sample by a model fitted to the other sources.
 *
 * @param {readonly Sample[]} samples
 * @param {readonly string[]} names
 */
function predictLeftOut(samples, names) {
  return [...new Set(samples.map(({ source }) => source))].flatMap((source) => {
    const model = fit(
      samples.filter((sample) => sample.source !== source),
      names,
    );
    return samples
      .filter((sample) => sample.source === source)
      .map((sample) => ({ sample, complete: predict(model, sample.features) >= 0.5 }));
  });
}

/**
 * The balanced accuracy, in which each sample counts by its weight.
 *
 * @param {readonly { sample: Sample, complete: boolean }[]} predicted
 * @returns {Quality}
 */
function qualityOf(predicted) {
  const missed = (/** @type {boolean} */ kind) => {
    const all = predicted.filter(({ sample }) => sample.complete === kind);
    const wrong = all.reduce((sum, { sample, complete }) => sum + (complete === kind ? 0 : sample.weight), 0);
    return wrong / all.reduce((sum, { sample }) => sum + (sample.outOf ?? sample.weight), 0);
  };
  const [complete, incomplete] = [1 - missed(true), 1 - missed(false)];
  return { value: (complete + incomplete) / 2, complete, incomplete, rows: predicted.length };
}

/**
 * Formats the folds, the effect of each feature, and the weights.
 *
 * @param {readonly Fitted[]} all
 */
export function formatFolds(all) {
  return all.map(formatOne).join('');
}

/** @param {Fitted} fitted */
function formatOne({ name, overall, folds, effects, model }) {
  const line = (/** @type {[string, Quality]} */ [source, { value, complete, incomplete, rows }]) =>
    `  ${source.padEnd(22)} ${percent(value)}  recalls ${percent(complete)}, ${percent(incomplete)}  rows ${rows}\n`;
  const listed = (
    /** @type {Readonly<Record<string, number>>} */ values,
    /** @type {(value: number) => string} */ format,
  ) =>
    Object.entries(values)
      .map(([key, value]) => `${key} ${format(value)}`)
      .join(', ');
  return [
    `\n${name}: each source predicted by weights fitted to the others\n`,
    ...[...Object.entries(folds), /** @type {[string, Quality]} */ (['all', overall])].map(line),
    `  effect of each feature  ${listed(effects, (value) => `${value < 0 ? '' : '+'}${(100 * value).toFixed(2)}`)}\n`,
    `  weights fitted to all   bias ${model.bias.toFixed(2)}, ${listed(model.weights, (value) => value.toFixed(2))}\n`,
  ].join('');
}

const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(1)} %`.padStart(7);
