import type { AnyStateMachine } from 'xstate';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../../machines/chain/chain.machine.ts';
import { type ChainInput, chainInputSchema } from '../../../machines/contracts/chain-input.ts';
import { JOURNAL_VERSION, type RunStart } from '../../../machines/contracts/journal-entry.ts';
import { hexDigest } from '../../../machines/text/hash.ts';
import { chartOf } from '../charts/chart.ts';
import { promptVersions } from '../prompts/prompt-versions.ts';
import type { ChainParts } from './actors.ts';

/** What the journal of a run begins with. */
export function runStart(
  input: ChainInput,
  { models, prompts }: ChainParts,
  { host = null, states = false }: Partial<Pick<RunStart, 'host' | 'states'>> = {},
): RunStart {
  const [modelId = '', ...fallbackModelIds] = models.map(({ id }) => id);
  return {
    type: 'run-start',
    version: JOURNAL_VERSION,
    chart: chartVersion(),
    ...input,
    modelId,
    fallbackModelIds,
    prompts: promptVersions(prompts),
    startedAt: new Date(input.startedAtMs).toISOString(),
    host,
    states,
    redacted: false,
    forkedFrom: null,
  };
}

/** What the chart is started with, out of what the journal begins with. */
export function inputOfStart(start: RunStart): ChainInput {
  const names = Object.keys(chainInputSchema.shape) as (keyof ChainInput)[];
  return Object.fromEntries(names.map((name) => [name, start[name]])) as unknown as ChainInput;
}

let known: RunStart['chart'] | null = null;

/** The chart with the two that are nested in it: what they are called and described as aside, any change to them changes the digest. */
export function chartVersion(): RunStart['chart'] {
  known ??= { id: chainMachine.id, digest: digestOf([chainMachine, actionMachine, attemptMachine]) };
  return known;
}

function digestOf(machines: readonly AnyStateMachine[]): string {
  const outlines = machines.map((machine) => {
    const { states, transitions } = chartOf(machine);
    return [states.map(({ description: _, ...state }) => state), transitions];
  });
  return hexDigest(JSON.stringify(outlines));
}
