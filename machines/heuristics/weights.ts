import type { ClosingFeature } from './closing.ts';
import type { CompletionFeature } from './grounding.ts';
import type { Features } from './reading.ts';
import type { SufficiencyFeature } from './sufficiency.ts';

/** A logistic model: the log-odds are `bias` plus the sum of each feature times its weight. */
interface Weights<Feature extends string> {
  readonly bias: number;
  readonly weights: Features<Feature>;
}

/** Returns the probability that a logistic model gives for the features, 0..1. */
export function probability<Feature extends string>(model: Weights<Feature>, features: Features<Feature>): number {
  let odds = model.bias;
  for (const name of Object.keys(model.weights) as Feature[]) odds += model.weights[name] * features[name];
  return 1 / (1 + Math.exp(-odds));
}

/**
 * The weights of the default grader. `npm run eval -- folds` fits them to the data sets named in `bench/README.md`
 * (logistic regression, both classes weighted alike) and prints what each feature adds on a source left out.
 */
export const COMPLETION_WEIGHTS: Weights<CompletionFeature> = {
  bias: 0.15,
  weights: { long: -3.21, recombined: -3.92, repeatedResults: -3.45 },
};

/** The bias includes the odds of 0.7, the default threshold of sufficiency. */
export const SUFFICIENCY_WEIGHTS: Weights<SufficiencyFeature> = {
  bias: -2.93,
  weights: { together: 4.35, names: 2.31, apart: 7.01, chained: 1 },
};

export const CLOSING_WEIGHTS: Weights<ClosingFeature> = {
  bias: -2.39,
  weights: { closes: 5.05, declines: 5.02, thanks: 2.93, asks: -3.09, numbers: -3.93, long: -2.08 },
};
