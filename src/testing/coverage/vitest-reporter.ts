import { resolve } from 'node:path';
import { writePage } from '../../inspection/pages/write-page.ts';
import type { CoverageCollector, MachineCoverage } from './coverage.ts';
import { coveragePage } from './coverage-page.ts';
import { coverageText } from './coverage-text.ts';
import { missedThresholds, requirePercentages, type Thresholds } from './thresholds.ts';

/** Where Vitest carries what a test file says to its reporters. */
const META = 'postchainCoverage';

interface WithMeta {
  readonly meta: Record<string, unknown>;
}

/** For `afterAll(reportCoverage(collector))`: hands what was collected in a test file to `chartCoverage`. */
export function reportCoverage(collector: CoverageCollector): (context: object, suite: object) => void {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the parameters, and wants a pattern as the first
  return ({}, suite) => {
    const { meta } = suite as WithMeta;
    const there = (meta[META] ?? []) as readonly MachineCoverage[];
    meta[META] = [...there, ...newIn(collector)];
  };
}

const handedOver = new WeakMap<CoverageCollector, readonly MachineCoverage[]>();

/** What was counted since it was last handed over: several suites, and test files, may share a collector. */
function newIn(collector: CoverageCollector): readonly MachineCoverage[] {
  const before = handedOver.get(collector) ?? [];
  const now = collector.coverage();
  handedOver.set(collector, now);
  return now.map((one, place) => ({
    ...one,
    items: one.items.map((item, at) => ({ ...item, times: item.times - (before[place]?.items[at]?.times ?? 0) })),
  }));
}

export interface ChartCoverageOptions {
  /** Per cent that each machine must reach, or the run fails. */
  readonly thresholds?: Thresholds;
  /** Where the page with the charts coloured is written, from Vitest's root on; its folder is made. */
  readonly html?: string;
}

/** What of Vitest's `TestModule` is used. */
interface ReportedModule {
  meta(): object;
  readonly children: { allSuites(): Iterable<{ meta(): object }> };
}

/** A reporter of Vitest, of version 4.1 on, which tells how much of their charts all test files together brought about. */
export function chartCoverage({ thresholds = {}, html }: ChartCoverageOptions = {}) {
  requirePercentages(thresholds);
  let root = '.';
  return {
    onInit(vitest: { readonly config: { readonly root: string } }): void {
      root = vitest.config.root;
    },
    async onTestRunEnd(modules: readonly ReportedModule[]): Promise<void> {
      const reported = modules.flatMap((module) => [module, ...module.children.allSuites()]).flatMap(coverageIn);
      const machines = mergedCoverage(reported);
      if (machines.length > 0) process.stdout.write(`\n${coverageText(machines)}\n`);
      if (machines.length > 0 && html !== undefined)
        await writePage(resolve(root, html), await coveragePage({ title: counted(modules.length), machines }));
      const missed = machines.length > 0 ? missedThresholds(machines, thresholds) : nothingFor(thresholds);
      for (const line of missed) process.stderr.write(`Chart coverage: ${line}\n`);
      if (missed.length > 0) process.exitCode = 1;
    },
  };
}

const counted = (files: number): string => `Vitest, ${files} test ${files === 1 ? 'file' : 'files'}`;

const coverageIn = (task: { meta(): object }): readonly MachineCoverage[] =>
  ((task.meta() as Record<string, unknown>)[META] ?? []) as readonly MachineCoverage[];

const nothingFor = (thresholds: Thresholds): readonly string[] =>
  Object.keys(thresholds).length === 0
    ? []
    : ['got none from any test file; wanted afterAll(reportCoverage(collector)) in those that count'];

/** Of several collections, one a machine, in the order in which they first come; times are added up. */
export function mergedCoverage(all: readonly MachineCoverage[]): readonly MachineCoverage[] {
  const merged = new Map<string, MachineCoverage>();
  for (const one of all) {
    const there = merged.get(one.machine);
    merged.set(one.machine, there === undefined ? one : together(there, one));
  }
  return [...merged.values()];
}

function together(left: MachineCoverage, right: MachineCoverage): MachineCoverage {
  const times = new Map(left.items.map((item) => [item.key, item.times]));
  return { ...right, items: right.items.map((item) => ({ ...item, times: item.times + (times.get(item.key) ?? 0) })) };
}
