import type { StateValue } from 'xstate';
import type { Exploration } from '../../src/testing/exploration/exploration.ts';

/** States that only hold others. */
const WRAPPER_STATES: ReadonlySet<string> = new Set(['cycling', 'synthesizing', 'calling']);

/** The innermost active state with its parents; in a parallel state, that of the unfinished region. */
function stateName(value: StateValue): string {
  const parts: string[] = [];
  let at: StateValue | undefined = value;
  while (typeof at === 'object') {
    const entries: [string, StateValue | undefined][] = Object.entries(at);
    const [name, inner] = entries.find(([, region]) => entries.length === 1 || region !== 'finished') ?? [
      '',
      undefined,
    ];
    if (entries.length === 1) parts.push(name);
    at = inner;
  }
  if (at !== undefined) parts.push(at);
  return parts.filter((part) => !WRAPPER_STATES.has(part)).join('.');
}

/** The id of a pending question contains the step. */
const withoutStep = (name: string): string => name.replace(/"s[1-9]\d*\.(consent|direction)"/u, '"pending $1"');

interface Reasons {
  readonly interruption?: { readonly kind: string } | null;
  readonly decision?: { readonly rule: string } | null;
  readonly stopReason?: string | null;
  readonly failure?: { readonly code: string } | null;
  /** Of an attempt: a call has started that is not recorded. */
  readonly isInFlight?: boolean;
}

/** Every route of a chart, one line per state and event: where it can lead, with the reason if it ends something there. */
export function routesOf({ states, edges, starts }: Exploration): string {
  const routes = new Map<string, Set<string>>();
  const add = (from: string, to: string): void => void routes.set(from, (routes.get(from) ?? new Set()).add(to));
  const placeOf = (id: number): string => stateName(states[id]?.value ?? '');
  const withReason = (id: number): string => {
    const place = placeOf(id);
    if (!/^(writing|remembering|answered|concluded|failed)$/u.test(place)) return place;
    const { interruption, decision, stopReason, failure, isInFlight } = (states[id]?.snapshot.context ?? {}) as Reasons;
    const reason = interruption?.kind ?? decision?.rule ?? stopReason ?? failure?.code ?? '';
    return `${place} (${reason}${isInFlight ? ', its call unrecorded' : ''})`;
  };
  for (const { name, state } of starts) add(`start, ${name}`, placeOf(state));
  for (const { from, to, occurrence, taken } of edges)
    add(`${placeOf(from)}, ${withoutStep(occurrence.name)}`, taken.length > 0 ? withReason(to) : 'ignored');
  return `${[...routes]
    .map(([from, to]) => `${from} → ${[...to].toSorted().join(' | ')}\n`)
    .toSorted()
    .join('')}`;
}
