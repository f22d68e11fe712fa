import { PostChainError } from '../../../machines/contracts/error.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { CoverageCollector } from './coverage.ts';
import {
  type CoverageThresholds,
  coverageText,
  type MachineCoverage,
  missedThresholds,
  requirePercentages,
  withUniqueNames,
} from './coverage-report.ts';

/** The field of a suite's metadata, which Vitest passes from test files to reporters. */
const META = 'postchainCoverage';

interface WithMeta {
  readonly meta: Record<string, unknown>;
}

/**
 * Returns a hook that passes a test file's coverage to `chartCoverage`: `afterAll(reportCoverage(collector))`. It throws `invalid_option` if
 * Vitest is older than 4.1.
 */
export function reportCoverage(collector: CoverageCollector): (context: object, suite: object) => void {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest parses the parameters and requires an object pattern first
  return ({}, suite) => {
    if (suite === undefined)
      throw new PostChainError(
        'invalid_option',
        'reportCoverage: afterAll passes no suite; expected Vitest 4.1 or later. Update vitest.',
      );
    const { meta } = suite as WithMeta;
    const existing = (meta[META] ?? []) as readonly MachineCoverage[];
    meta[META] = [...existing, ...newIn(collector)];
  };
}

const reported = new WeakMap<CoverageCollector, readonly MachineCoverage[]>();

/** Several suites and test files may share a collector. */
function newIn(collector: CoverageCollector): readonly MachineCoverage[] {
  const before = reported.get(collector) ?? [];
  const now = collector.coverage();
  reported.set(collector, now);
  return now.map((one, place) => ({
    ...one,
    items: one.items.map((item, at) => ({ ...item, times: item.times - (before[place]?.items[at]?.times ?? 0) })),
  }));
}

export interface ChartCoverageOptions {
  /** The percentage that each machine must reach; otherwise the run fails. */
  readonly thresholds?: CoverageThresholds;
}

/** The parts of Vitest's `TestModule` that the reporter uses. */
interface ReportedModule {
  meta(): object;
  readonly children: { allSuites(): Iterable<{ meta(): object }> };
}

/** Returns a Vitest reporter (4.1 or later) that merges and prints the chart coverage of all test files. */
export function chartCoverage(options: ChartCoverageOptions = {}) {
  requireKnownOptions('chartCoverage', options, 'thresholds');
  const { thresholds = {} } = options;
  requirePercentages(thresholds);
  return {
    onTestRunEnd(modules: readonly ReportedModule[]): void {
      const tasks = modules.flatMap((module) => [module, ...module.children.allSuites()]);
      const machines = mergedCoverage(tasks.flatMap(coverageIn));
      const problems = machines.length > 0 ? missedThresholds(machines, thresholds) : notCollected(thresholds);
      if (machines.length > 0) process.stdout.write(`\n${coverageText(machines)}\n`);
      for (const problem of problems) process.stderr.write(`Chart coverage: ${problem}\n`);
      if (problems.length > 0) process.exitCode = 1;
    },
  };
}

const coverageIn = (task: { meta(): object }): readonly MachineCoverage[] =>
  ((task.meta() as Record<string, unknown>)[META] ?? []) as readonly MachineCoverage[];

const notCollected = (thresholds: CoverageThresholds): readonly string[] =>
  Object.keys(thresholds).length === 0
    ? []
    : ['no test file reported any; call afterAll(reportCoverage(collector)) in the files that count'];

/** Merges collections into one per machine, in order of first appearance, and adds up their counts. Different machines may have one id. */
export function mergedCoverage(all: readonly MachineCoverage[]): readonly MachineCoverage[] {
  const merged = new Map<string, MachineCoverage>();
  for (const one of all) {
    const key = JSON.stringify(one.chart);
    const existing = merged.get(key);
    merged.set(key, existing === undefined ? one : sum(existing, one));
  }
  return withUniqueNames([...merged.values()]);
}

function sum(left: MachineCoverage, right: MachineCoverage): MachineCoverage {
  const times = new Map(left.items.map((item) => [item.key, item.times]));
  return { ...right, items: right.items.map((item) => ({ ...item, times: item.times + (times.get(item.key) ?? 0) })) };
}
