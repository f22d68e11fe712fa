import type { ChatModel, ModelPart } from '../../../../machines/contracts/model.ts';
import type { World } from './counting-clock.ts';
import type { CallPlan, Ending, Schedule, Step } from './schedule.ts';

export interface SeenCall {
  readonly model: number;
  readonly atMs: number;
  readonly turns: number;
}

/** The models of a schedule: whichever is called, the call goes as the next plan says. */
export interface ScheduleModels {
  readonly models: readonly ChatModel[];
  readonly calls: readonly SeenCall[];
  /** Calls that have begun and not ended, those of models that hear nothing left out. */
  readonly open: () => number;
}

/** `planned` says how many plans are used up already. */
export function scheduleModels(schedule: Schedule, world: World, planned: () => number): ScheduleModels {
  const { narrow, form } = schedule;
  const calls: SeenCall[] = [];
  let open = 0;

  async function* play({ steps, endAfterMs, ending }: CallPlan, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const isDeaf = ending.type === 'deaf';
    if (!isDeaf) open += 1;
    try {
      for (const step of steps) {
        if (step.afterMs > 0) await world.wait(step.afterMs, isDeaf ? null : signal);
        if (signal.aborted) return;
        yield partOf(step, form);
      }
      if (ending.type === 'hang' || isDeaf) await world.wait(10_000_000, isDeaf ? null : signal);
      else if (endAfterMs > 0) await world.wait(endAfterMs, signal);
      if (!signal.aborted) yield* lastPart(ending);
    } finally {
      if (!isDeaf) open -= 1;
    }
  }

  return {
    calls,
    open: () => open,
    models: narrow.map((isNarrow, model) => ({
      id: `model-${model}`,
      contextWindowTokens: isNarrow ? 3 : 128_000,
      stream(request, { signal }) {
        const plan = schedule.calls[planned()];
        calls.push({ model, atMs: world.now(), turns: request.turns.length });
        if (plan === undefined) throw new Error('there is no plan for this call');
        return play(plan, signal);
      },
    })),
  };
}

function partOf({ type, text }: Step, form: Schedule['form']): ModelPart {
  if (type === 'reasoning') return { type: 'reasoning-delta', text };
  if (type === 'text' || form === 'text') return { type: 'text-delta', text };
  return { type: 'tool-call-delta', index: 0, name: 'output', arguments: text };
}

function* lastPart(ending: Ending): Generator<ModelPart> {
  if (ending.type === 'throw') throw new Error('a model that breaks its contract');
  if (ending.type === 'finish' || ending.type === 'failure') yield ending;
}
