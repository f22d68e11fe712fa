import { PostChainError } from '../../machines/contracts/error.ts';
import { checkRuns } from '../chain/journal/check-runs.ts';
import { type CheckedActor, type CheckedMachine, checkDeploy } from '../durable/check-deploy.ts';
import { oneLine, printableJson } from '../internal/printable.ts';
import { type JournalFlags, openJournals } from './find-run.ts';
import { importModule } from './load-chart-module.ts';
import { colorsFor } from './screen.ts';

export interface CheckDeployFlags extends JournalFlags {
  readonly json?: boolean;
}

interface Checked {
  readonly text: string;
  /** 0 if all can continue, 1 if not. */
  readonly code: number;
}

/** Checks the actors of the durable machines that modules export; without a module, the recorded runs of the chain. */
export async function checkDeployCommand(
  modules: readonly string[],
  flags: CheckDeployFlags,
  stdout: NodeJS.WriteStream = process.stdout,
): Promise<Checked> {
  const checked =
    modules.length === 0 ? await checkRuns(openJournals(flags)) : (await Promise.all(modules.map(checkModule))).flat();
  const code = checked.some(({ problem }) => problem !== null) ? 1 : 0;
  if (flags.json) return { text: `${printableJson(JSON.stringify(checked, null, 2))}\n`, code };
  return { text: textOf(checked, stdout), code };
}

async function checkModule(path: string): Promise<readonly CheckedActor[]> {
  const machines = Object.values(await importModule(path)).filter(isDurableMachine);
  if (machines.length === 0)
    throw new PostChainError(
      'invalid_option',
      `${path} exports no durable machine; expected an export made by createDurableMachine`,
    );
  return (await Promise.all([...new Set(machines)].map(checkDeploy))).flat();
}

const isDurableMachine = (value: unknown): value is CheckedMachine =>
  typeof Object(value).list === 'function' && typeof Object(value).replay === 'function';

function textOf(checked: readonly CheckedActor[], stdout: NodeJS.WriteStream): string {
  if (checked.length === 0) return 'No run or actor is unfinished.\n';
  const { cyan, green, red } = colorsFor(stdout);
  const lines = checked.map(({ id, status, problem }) => {
    const verdict = problem === null ? green('continues') : red('fails    ');
    return `${verdict}  ${cyan(oneLine(id))}  ${status}${problem === null ? '' : `  ${oneLine(problem)}`}`;
  });
  const differing = checked.filter(({ problem }) => problem !== null).length;
  const summary =
    differing === 0
      ? `${checked.length} of ${checked.length} can continue on this version.`
      : `${differing} of ${checked.length} cannot continue: finish them on the version that recorded them, or add it to "versions" of a durable machine.`;
  return `${lines.join('\n')}\n${summary}\n`;
}
