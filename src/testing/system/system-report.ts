import { count } from '../../internal/printable.ts';

/** A covering path that was left out from a step on, because the adapter has no function for the step. */
export interface LeftOutPath {
  readonly path: string;
  readonly step: string;
  /** The missing function, such as `outcomes.charge`. */
  readonly missing: string;
}

/** What a test of a system did. */
export interface SystemReport {
  /** Id of the machine. */
  readonly machine: string;
  /** The number of covering paths that were run. */
  readonly paths: number;
  readonly walks: number;
  /** Repeats the walks; null without walks. */
  readonly seed: number | null;
  readonly steps: number;
  readonly leftOut: readonly LeftOutPath[];
  /** The number of transitions in the chart. */
  readonly transitions: number;
  /** The transitions that no step took, as findings print them. */
  readonly untaken: readonly string[];
}

/** What a test has counted so far. */
export class Tally {
  walks = 0;
  steps = 0;
  readonly taken = new Set<number>();

  readonly take = (transitions: readonly number[]): void => {
    for (const transition of transitions) this.taken.add(transition);
  };
}

/** Formats a report: what was tested, and what was not. */
export function systemReportText(report: SystemReport): string {
  const { machine, paths, walks, seed, steps, leftOut, transitions, untaken } = report;
  const walked = seed === null ? '' : ` and ${count(walks, 'walk')} of seed ${seed}`;
  const taken = `${transitions - untaken.length} of ${count(transitions, 'transition')}`;
  return [
    `The system does what ${machine} does: ${count(paths, 'path')}${walked}, ${count(steps, 'step')}, ${taken}.`,
    ...untaken.map((transition) => `  not taken: ${transition}`),
    ...leftOut.map(({ path, step, missing }) => `  left out from "${step}" on, without "${missing}": ${path}`),
  ].join('\n');
}
