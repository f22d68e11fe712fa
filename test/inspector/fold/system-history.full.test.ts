import { describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import type { ActorEntry } from '../../../inspector/fold/actor-entries.ts';
import { lastName } from '../../../inspector/fold/chart-index.ts';
import { eventCounts } from '../../../inspector/fold/summary.ts';
import { systemStep } from '../../../inspector/fold/system-step.ts';
import { systemTrace } from '../../../inspector/fold/system-trace.ts';
import { systemWaits } from '../../../inspector/fold/system-waits.ts';
import { rowsIn, type TraceRow } from '../../../inspector/fold/trace-row.ts';
import { scenarios } from '../../support/durable-machines.ts';
import { runScenario } from '../../support/durable-runs.ts';
import { foldedActor } from '../../support/inspector/inspected-runs.ts';
import { createRandom, SEED } from '../../support/random.ts';
import { randomScenario } from '../../support/random-machines.ts';
import { sampleSize } from '../../support/soak.ts';

const isStep = ({ kind }: TraceRow): boolean => kind === 'step' || kind === 'ignored';

const allRows = (rows: readonly TraceRow[]): readonly TraceRow[] =>
  rows.flatMap((row) => [row, ...allRows(rowsIn(row))]);

/** Runs a scenario and returns what its page shows of the journal. */
async function shown(scenario: Parameters<typeof runScenario>[0]) {
  const { entries, machine, snapshot } = await runScenario(scenario);
  const sent = entries.filter(({ type }) => type === 'delivery');
  const folded = foldedActor(entries, machine);
  const system = { ...folded, count: folded.log.count };
  const rows = allRows(systemTrace({ ...system, isOver: false }));
  const read = entries.map((_, seq) => system.log.entry(seq) as unknown as ActorEntry);
  return { system, rows, read, snapshot, sent: sent.length };
}

type Shown = Awaited<ReturnType<typeof shown>>;

/** Every transition is in one row, which names its states, and in the panel of that row, which names an outer state that handled the event. */
function checkTransitions({ system, rows, read }: Shown, label: string): void {
  for (const entry of read) {
    if (entry.type !== 'transition') continue;
    const isOwn = ({ id }: TraceRow): boolean => id.replace(/^step\d+/u, '') === entry.actor;
    const around = rows.filter(
      (row) => isStep(row) && isOwn(row) && row.from <= entry.seq && entry.seq <= (row.to ?? 0),
    );
    const targets = entry.target.filter((target) => /s\d$/u.test(target));
    const states = targets.filter((id) => id.includes('.'));
    // A later actor with the same path may have started in the same step.
    const row = around.find(({ kind, moves = '' }) => {
      const isNamed = states.every((id) => moves.includes(lastName(id))) || moves.includes(' more');
      return kind === 'step' && isNamed;
    });
    expect(row, `${label}, the row of entry ${entry.seq}`).toBeDefined();
    const selection = { kind: 'entry', from: row?.from ?? 0, to: row?.to ?? 0 } as const;
    const step = systemStep({ ...system, selection });
    expect(
      step.transitions.map(({ seq }) => seq),
      label,
    ).toContain(entry.seq);
    const { moves = '', about = '' } = step.transitions.find(({ seq }) => seq === entry.seq) ?? {};
    if (entry.target.length > 0 && entry.source.includes('.'))
      expect(`${moves} ${about}`, `${label}, the source of entry ${entry.seq}`).toContain(lastName(entry.source));
    const [only, more] = step.transitions;
    if (more === undefined && only?.moves !== '' && row?.from === step.from) expect(row.moves).toBe(only?.moves);
  }
}

/** The head counts the deliveries of the journal. Every event from outside has a row, which is muted if and only if the journal has no transition for it. */
function checkEvents({ system, rows, read, sent }: Shown, label: string): void {
  expect(eventCounts(system.fold).received, label).toBe(sent);
  const isMachine = (path: string): boolean =>
    system.fold.actors.some((actor) => actor.path === path && actor.machine !== null);
  for (const entry of read) {
    if (entry.type !== 'delivery' || !entry.isExternal || !isMachine(entry.actor)) continue;
    const row = rows.find((one) => isStep(one) && one.from === entry.seq);
    const next = read.findIndex(({ type, seq }) => seq > entry.seq && ['delivery', 'failed', 'stopped'].includes(type));
    const caused = read.slice(entry.seq + 1, next < 0 ? undefined : next);
    const isHandled = caused.some((one) => one.type === 'transition' && one.actor === entry.actor);
    if (row !== undefined) expect(row.kind === 'step', `${label}, entry ${entry.seq}`).toBe(isHandled);
    else expect(isHandled, `${label}, entry ${entry.seq} has no row`).toBe(false);
  }
}

/** Every call has a row from its start to its end, with the outcome that the journal has. */
function checkCalls({ rows, read }: Shown, label: string): void {
  for (const entry of read) {
    if (entry.type !== 'activity-start') continue;
    const row = rows.find(({ kind, from }) => (kind === 'activity' || kind === 'actor') && from === entry.seq);
    expect(row, `${label}, the call of entry ${entry.seq}`).toBeDefined();
    const end = row?.to == null ? undefined : read[row.to];
    if (row?.status === 'failed' && end?.type === 'delivery')
      expect(end.event.type, label).toMatch(/^xstate\.error\./u);
    if (row?.status === 'done' && end?.type === 'delivery') expect(end.event.type, label).toMatch(/^xstate\.done\./u);
  }
}

/** What the root waits for at the end is what its snapshot accepts, and nothing after its end. */
function checkWaits({ system, read, snapshot }: Shown, label: string): void {
  const { fold, charts, count } = system;
  const root = systemWaits(fold, charts, count - 1).find((one) => one.machine === fold.actors[0]?.machine);
  const state = snapshot as AnyMachineSnapshot;
  if (state.status !== 'active') {
    expect(systemWaits(fold, charts, count - 1), label).toEqual([]);
    expect(
      read.some(({ type }) => type === 'end'),
      label,
    ).toBe(true);
    return;
  }
  const accepted = ['A', 'B', 'C'].filter((type) => state.can({ type }));
  for (const type of accepted) expect(root?.events ?? [], label).toContain(type);
}

/** The last change of a context that a row names is the value that the machine has. */
function checkContext({ system, rows, snapshot }: Shown, label: string): void {
  const changes = rows.flatMap((row) => (/^step\d+$/u.test(row.id) ? [row.note ?? ''] : []));
  const last = changes.findLast((note) => /(?:^| )n: \d+ → \d+/u.test(note));
  const { n } = (snapshot as unknown as { context: { n: number } }).context;
  const named = Number(
    /(?:^| )n: \d+ → (\d+)/u.exec(last ?? '')?.[1] ?? Object(Object(system.fold.states.after(0))['']).context.n,
  );
  expect(named, label).toBe(n);
}

describe('the history of an actor', () => {
  it('agrees with the journals of random machines', async () => {
    for (let number = 0; number < sampleSize('machines', 60, 600); number += 1) {
      const scenario = { ...randomScenario(createRandom(SEED + number)), ends: null };
      const label = `machine ${number}, POSTCHAIN_SEED=${SEED}`;
      const page = await shown(scenario);
      checkTransitions(page, label);
      checkEvents(page, label);
      checkCalls(page, label);
      checkWaits(page, label);
      checkContext(page, label);
    }
  });

  it.each(Object.entries(scenarios))('agrees with the journal of a machine with %s', async (label, scenario) => {
    const page = await shown(scenario);
    checkTransitions(page, label);
    checkEvents(page, label);
    checkCalls(page, label);
  });
});
