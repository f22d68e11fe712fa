export { SimulatedClock } from 'xstate';
export { type ToVitestOptions, toVitest } from '../chain/journal/to-vitest.ts';
export {
  always,
  type Script,
  type ScriptEntry,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  scriptedModel,
} from '../models/scripted.ts';
export { actionChart } from '../testing/charts/action-chart.ts';
export { attemptChart } from '../testing/charts/attempt-chart.ts';
export { chainChart } from '../testing/charts/chain-chart.ts';
export { actionProperties, attemptProperties, chainProperties, soundness } from '../testing/charts/properties.ts';
export { type CoverageCollector, collectCoverage } from '../testing/coverage/coverage.ts';
export {
  type CoverageThresholds,
  type CoveredItem,
  coverageText,
  type MachineCoverage,
  missedThresholds,
  percentOf,
} from '../testing/coverage/coverage-report.ts';
export { type ChartCoverageOptions, chartCoverage, reportCoverage } from '../testing/coverage/vitest-reporter.ts';
export {
  type EvaluatedCase,
  type EvaluatedSystem,
  type EvaluatedTotals,
  type EvaluateOptions,
  type Evaluation,
  type EvaluationCase,
  evaluate,
  evaluationText,
  type Scorer,
} from '../testing/evaluate.ts';
export type { Exploration, ExploredEdge, ExploredState, StartState } from '../testing/exploration/exploration.ts';
export { type ExploredChart, type ExploreOptions, explore } from '../testing/exploration/explore.ts';
export {
  type ActorOutcome,
  type ActorOutcomes,
  done,
  fails,
  type Occurrence,
  type Outcomes,
  sends,
  updates,
} from '../testing/exploration/occurrences.ts';
export { cover, type Path, pathThrough, pathTo, reachedItems } from '../testing/exploration/paths.ts';
export { type Invariants, type RunPathOptions, runPath } from '../testing/exploration/run-path.ts';
export type { ElapsedDelay, SystemCall, SystemOptions, TestedSystem } from '../testing/exploration/tested-system.ts';
export { startWalk, type Walk, type WalkOptions, walkStep } from '../testing/exploration/walk.ts';
export {
  type JournalStoreCheck,
  type JournalStoreChecksOptions,
  journalStoreChecks,
} from '../testing/journal-store-checks.ts';
export {
  type KillReport,
  killReport,
  type Mutant,
  type MutantKind,
  type MutantResult,
  mutantsOf,
} from '../testing/mutants.ts';
export { abstractionIsConsistent } from '../testing/properties/abstraction-is-consistent.ts';
export { alwaysEventually, type EventuallyOptions } from '../testing/properties/always-eventually.ts';
export { canAlwaysEnd, endsWithin, noEndlessRetry, noIgnoredDelay } from '../testing/properties/ends.ts';
export { migratesTo } from '../testing/properties/migrates-to.ts';
export { type PrecedesTimes, precedes, type StepMark } from '../testing/properties/precedes.ts';
export {
  atMost,
  describeFinding,
  type Finding,
  findingsOf,
  type MayIgnore,
  never,
  noDeadEnd,
  noDeadTransition,
  noIgnoredEvent,
  noMissingImplementation,
  noUnhandledError,
  noUnreachableState,
  type Property,
  type Witness,
} from '../testing/properties/properties.ts';
export { respond, until } from '../testing/properties/until-and-respond.ts';
export { replies } from '../testing/replies.ts';
export { settle } from '../testing/settle.ts';
export { type CoverageItem, coverageItems } from '../testing/structure/coverage-items.ts';
export type { GuardCheck, InstrumentedStep } from '../testing/structure/instrumented-machine.ts';
export type { Payload, PayloadArbitrary, TestSystemOptions, WalksOptions } from '../testing/system/system-options.ts';
export { type LeftOutPath, type SystemReport, systemReportText } from '../testing/system/system-report.ts';
export { testSystem } from '../testing/system/test-system.ts';
