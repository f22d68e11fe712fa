import { PostChainError } from '../../machines/contracts/error.ts';
import { checkRuns } from '../chain/journal/check-runs.ts';
import { isRun } from '../chain/journal/run-journal.ts';
import { type CheckedActor, type CheckedMachine, checkDeploy, uncheckedActors } from '../durable/check-deploy.ts';
import type { ActorSummary } from '../durable/journals/journal-store.ts';
import { count, oneLine, printableJson } from '../internal/printable.ts';
import { durableMachines } from './durable-modules.ts';
import { type JournalFlags, openExistingJournals } from './open-journals.ts';
import { colorsFor } from './screen.ts';

export interface CheckDeployFlags extends JournalFlags {
  readonly json?: boolean;
}

interface Checked {
  readonly text: string;
  /** 0 if all can continue, 1 if not or if some could not be checked. */
  readonly code: number;
}

/** Checks the actors of the durable machines that modules export; without a module, the recorded runs of the chain. */
export async function checkDeployCommand(
  modules: readonly string[],
  flags: CheckDeployFlags,
  stdout: NodeJS.WriteStream = process.stdout,
): Promise<Checked> {
  if (modules.length > 0 && flags.journals !== undefined)
    throw new PostChainError(
      'invalid_option',
      `--journals selects recorded runs, but the machines of ${modules.join(', ')} have their own stores; remove --journals`,
    );
  const runs = modules.length === 0 ? openExistingJournals(flags) : null;
  const machines = await durableMachines({ module: modules });
  const checked = runs ? await checkRuns(runs) : (await Promise.all(machines.map(checkDeploy))).flat();
  const stored = (await Promise.all((runs ? [runs] : machines).map((each) => each.list()))).flat();
  const all = runs ? stored.filter(isRun) : stored;
  const unchecked = runs
    ? await uncheckedActors([othersIn(stored)], 'a module given to check-deploy')
    : await uncheckedActors(machines, modules.join(', '));
  const listed = [...checked, ...unchecked];
  // A user who forgets to pass the modules must not get a success.
  const isForgotten = runs !== null && flags.journals === undefined && all.length === 0;
  const code = isForgotten || listed.some(({ problem }) => problem !== null) ? 1 : 0;
  if (flags.json) return { text: `${printableJson(JSON.stringify(listed, null, 2))}\n`, code };
  if (listed.length > 0) return { text: textOf(checked, unchecked, stdout), code };
  if (isForgotten)
    return {
      text: 'No runs are recorded. To check durable actors, pass the modules that export their machines.\n',
      code,
    };
  const what = runs ? 'run' : 'actor';
  if (all.length === 0) return { text: `Nothing waits: there are no ${what}s.\n`, code };
  const ended = count(all.length, what);
  return { text: `Nothing waits: ${all.length === 1 ? `${ended} has` : `all ${ended} have`} ended.\n`, code };
}

/** Returns the durable actors in the store of the runs, listed as by a machine that owns none of them. */
const othersIn = (stored: readonly ActorSummary[]): Pick<CheckedMachine, 'list'> => ({
  list: async ({ allMachines = false } = {}) => (allMachines ? stored.filter((actor) => !isRun(actor)) : []),
});

function textOf(
  checked: readonly CheckedActor[],
  unchecked: readonly CheckedActor[],
  stdout: NodeJS.WriteStream,
): string {
  const { cyan, green, red } = colorsFor(stdout);
  const lines = [...checked, ...unchecked].map((actor) => {
    const { id, status, problem, version, migratesTo } = actor;
    const good = migratesTo === undefined ? 'continues' : 'migrates ';
    const verdict = problem === null ? green(good) : red(unchecked.includes(actor) ? 'unchecked' : 'fails    ');
    const from = version === undefined ? [] : [`version ${version ?? '(none)'}${migratesTo ? ` → ${migratesTo}` : ''}`];
    return [verdict, cyan(oneLine(id)), status, ...[...from, ...(problem === null ? [] : [problem])].map(oneLine)].join(
      '  ',
    );
  });
  const differing = checked.filter(({ problem }) => problem !== null);
  const notMigrated = differing.filter(({ migratesTo }) => migratesTo !== undefined).length;
  const failing = differing.length - notMigrated;
  const all = checked.length;
  if (all > 0 && differing.length === 0) lines.push(`${all} of ${all} can continue on this version.`);
  if (failing > 0)
    lines.push(
      `${failing} of ${all} cannot continue: finish them on the version that recorded them, or add it to "versions" of a durable machine.`,
    );
  if (notMigrated > 0)
    lines.push(
      `${notMigrated} of ${all} cannot be migrated: correct "migrate", or they continue on the earlier version.`,
    );
  return `${lines.join('\n')}\n`;
}
