import type { Phase } from '../../machines/contracts/phase.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { activeStatesAt } from './active-states.ts';
import { copyKey } from './chart-copies.ts';
import { ancestorsOf, chartIndexOf } from './chart-index.ts';
import { formatNumber, pluralize } from './format.ts';
import type { Badge, Badges } from './marks.ts';
import { phaseOfAttempt } from './phase-visit.ts';
import type { RunFold } from './run-fold.ts';
import type { AttemptSpan, CallSpan, CapabilitySpan } from './spans.ts';

/** The model calls, other calls and tool calls that were made in a state and in the states inside it. */
interface Work {
  readonly attempts: AttemptSpan[];
  readonly calls: CallSpan[];
  readonly tools: CapabilitySpan[];
}

/** By chart or, for an invoked chart, by `copyKey`; then by state. */
interface Counted {
  readonly charts: RunCharts;
  readonly work: Map<string, Map<string, Work>>;
  attempts: number;
  calls: number;
  tools: number;
}

const known = new WeakMap<RunFold, Counted>();

/** What the states of a run did, such as `1 of 3 calls failed`. Reads only what was added since the last call. */
export function badgesOf(fold: RunFold, charts: RunCharts): Badges {
  const cached = known.get(fold);
  const counted = cached?.charts === charts ? cached : { charts, work: new Map(), attempts: 0, calls: 0, tools: 0 };
  known.set(fold, counted);
  const { attempts, calls, capabilities } = fold.spans;
  for (const attempt of attempts.slice(counted.attempts))
    for (const work of workAt(fold, counted, attempt.from, phaseOfAttempt(fold.spans, attempt)))
      work.attempts.push(attempt);
  for (const call of calls.slice(counted.calls))
    for (const work of workAt(fold, counted, call.from, null)) work.calls.push(call);
  for (const tool of capabilities.slice(counted.tools))
    for (const work of workAt(fold, counted, tool.from, null)) work.tools.push(tool);
  Object.assign(counted, { attempts: attempts.length, calls: calls.length, tools: capabilities.length });
  return Object.fromEntries(
    [...counted.work].map(([key, states]) => [
      key,
      new Map([...states].map(([state, work]) => [state, badgeOf(work)])),
    ]),
  );
}

/** The innermost active states that invoke something, and the states around them. A call that starts early counts in its own phase. */
function workAt(
  { transitions }: RunFold,
  { charts, work }: Counted,
  seq: number,
  phase: Phase | null,
): readonly Work[] {
  const { active, leaf, insideOf } = activeStatesAt(transitions, charts, seq);
  return Object.entries(leaf).flatMap(([chartId, leaves]) => {
    const chart = chartIndexOf(charts).chart(chartId);
    if (chart === undefined) return [];
    const isEarly = phase !== null && chart.state(phase) !== undefined && active[chartId]?.has(phase) !== true;
    const owners = (isEarly ? [phase] : leaves).flatMap((id) => {
      const around = ancestorsOf(chart, id);
      const first = isEarly ? 0 : around.findIndex(({ invokes }) => invokes.length > 0);
      return first < 0 ? [] : around.slice(first);
    });
    const host = insideOf[chartId];
    const key = host === undefined ? chartId : copyKey(chartId, host);
    const states = work.get(key) ?? new Map<string, Work>();
    work.set(key, states);
    return [...new Set(owners)].map(({ id }) => {
      const own = states.get(id) ?? { attempts: [], calls: [], tools: [] };
      states.set(id, own);
      return own;
    });
  });
}

/** Their failures are those of a model call or a tool. */
const COUNTED_OTHERWISE: ReadonlySet<string> = new Set(['readReply', 'executeCapability']);

function badgeOf({ attempts, calls, tools }: Work): Badge {
  const failedCalls = attempts.filter(({ failure }) => failure !== null).length;
  const failedTools = tools.filter(({ error }) => error !== null).length;
  const others = calls.filter((call) => call.outcome === 'failed' && !COUNTED_OTHERWISE.has(call.source)).length;
  const made = attempts.length > 0 ? pluralize(attempts.length, 'call') : '';
  const failed = [
    ...(failedCalls > 0 ? [`${formatNumber(failedCalls)} of ${made}`] : []),
    ...(failedTools > 0 ? [pluralize(failedTools, 'tool call')] : []),
    ...(others > 0 ? [pluralize(others, 'activity')] : []),
  ];
  if (failed.length === 0) return { text: made, hasFailed: false };
  const words = `${failed.join(' and ')} failed`;
  return { text: failedCalls > 0 || made === '' ? words : `${made} · ${words}`, hasFailed: true };
}
