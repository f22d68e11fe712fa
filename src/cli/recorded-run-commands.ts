import { Argument, type Command, Option } from 'commander';
import type { Printed } from './actor-commands.ts';
import {
  age,
  collect,
  JOURNALS,
  MODULE,
  portNumber,
  positiveInteger,
  positiveNumber,
  RUN,
  STATUS_WORDS,
  serverUrl,
  withAnswerOptions,
  withInspectOptions,
} from './flags.ts';

export function addRecordedRunCommands(program: Command, setExitCode: SetExitCode): void {
  addShowCommands(program);
  addReplayCommands(program, setExitCode);
  addInspectCommands(program, setExitCode);
  addContinueCommands(program, setExitCode);
  addActorCommands(program, setExitCode);
  addRepairCommand(program, setExitCode);
  addWhatIfCommand(program);
}

type SetExitCode = (code: number) => void;

function addShowCommands(program: Command): void {
  program
    .command('runs')
    .description('list recorded runs and durable actors')
    .option('--limit <count>', 'maximum number of rows (default: 20 on a terminal, otherwise all)', positiveInteger)
    .addOption(
      new Option('--where <name=value>', 'only those with this attribute; repeatable')
        .argParser(collect)
        .conflicts('delete'),
    )
    .addOption(new Option('--status <status>', 'only those with this status').choices(STATUS_WORDS).conflicts('delete'))
    .option('--delete [runs...]', 'delete these runs or actors; with --older-than, all unchanged since then')
    .option('--yes', 'delete without asking')
    .option('--older-than <age>', 'only those that started longer ago, such as 30d, 12h or 2w', age)
    .option('--module <file>', MODULE, collect)
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print JSON')
    .action(async (flags) => {
      if (flags.delete === undefined) {
        const { runsCommand } = await import('./runs-command.ts');
        process.stdout.write(await runsCommand(flags));
        return;
      }
      const [{ deleteRuns }, { askerFor }] = await Promise.all([import('./delete-runs.ts'), import('./ask-user.ts')]);
      process.stdout.write(await deleteRuns(flags, askerFor(flags, process)));
    });

  program
    .command('show')
    .description('print the steps and answer of a run, or the entries of a durable actor')
    .argument('<run>', RUN_OR_ACTOR)
    .option('--all', 'print every journal entry, with the result and inputs of each guard')
    .option('--module <file>', MODULE, collect)
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print the journal entries as JSON lines')
    .action(async (run, flags) => {
      const { showCommand } = await import('./show-command.ts');
      await showCommand(run, flags);
    });
}

function addReplayCommands(program: Command, setExitCode: SetExitCode): void {
  program
    .command('replay')
    .description('replay a run or a durable actor without calls, and check that every entry is identical')
    .argument('<run>', RUN_OR_ACTOR)
    .option('--speed <times>', 'show the run at this multiple of its original speed', positiveNumber)
    .addOption(new Option('--update', 'replace the journal file with what the charts produce now').conflicts('vitest'))
    .option('--vitest <file>', 'write a test, and the recording next to it')
    .option('--module <file>', MODULE, collect)
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print the result as JSON')
    .action(async (run, flags) => {
      const { replayCommand } = await import('./replay-command.ts');
      setExitCode(await replayCommand(run, flags));
    });

  program
    .command('check-deploy')
    .description('replay all runs that have not ended, and report which cannot continue on this version')
    .argument('[modules...]', 'modules that export durable machines, to check their actors instead')
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print JSON')
    .action(async (modules, flags) => {
      const { checkDeployCommand } = await import('./check-deploy-command.ts');
      print(await checkDeployCommand(modules, flags), setExitCode);
    });
}

function addInspectCommands(program: Command, setExitCode: SetExitCode): void {
  program
    .command('inspect')
    .description('serve recorded runs and durable actors in the inspector, a local web page, until Ctrl-C')
    .argument('[run]', 'run or durable actor to open first: an id, a prefix of one, "last", or a journal file')
    .option(
      '--port <port>',
      'port of the inspector, for an address that stays the same (default: a free port)',
      portNumber,
    )
    .option('--open', 'open the page in the browser')
    .option('--journals <place>', JOURNALS)
    .option('--module <file>', MODULE, collect)
    .action(async (run, flags) => {
      const { inspectCommand } = await import('./inspect-command.ts');
      setExitCode(await inspectCommand(run, flags));
    });

  program
    .command('export')
    .description('write a run or a durable actor as one HTML page to share')
    .argument('<run>', RUN_OR_ACTOR)
    .option('-o, --output <file>', 'path of the page (default: run-ID.html or actor-ID.html)')
    .option('--redact <text>', 'text (case-insensitive) or /regex/ to hide; repeatable', collect)
    .option('--preview', 'write nothing; list what would be hidden and what looks like a secret')
    .option('--force', 'overwrite an existing file')
    .option('--module <file>', MODULE, collect)
    .option('--journals <place>', JOURNALS)
    .action(async (run, flags) => {
      const { exportCommand } = await import('./export-command.ts');
      process.stdout.write(await exportCommand(run, flags));
    });
}

function addContinueCommands(program: Command, setExitCode: SetExitCode): void {
  withContinueOptions(
    program
      .command('resume')
      .description('continue an interrupted run or durable actor without repeating finished calls'),
  )
    .option('--force', 'take over a run that may still be running in another process')
    .action(async (run, flags) => {
      const { resumeCommand } = await import('./resume-and-fork-commands.ts');
      setExitCode(await resumeCommand(run, flags));
    });

  withContinueOptions(
    program.command('fork').description('start a new run from an entry of a recorded one, with changes'),
  )
    .requiredOption('--at <entry>', 'number of the journal entry where the new run branches off', positiveInteger)
    .option('--set <path=value>', 'change limits.…, thresholds.…, phase or reply.…; repeatable', collect)
    .action(async (run, flags) => {
      const { forkCommand } = await import('./resume-and-fork-commands.ts');
      setExitCode(await forkCommand(run, flags));
    });
}

function addWhatIfCommand(program: Command): void {
  program
    .command('what-if')
    .description('show where recorded runs would have ended with other limits and thresholds, without a model call')
    .requiredOption('--set <path=value>', 'limits.maxCycles or thresholds.…, as in fork; repeatable', collect)
    .option('--runs <run...>', `${RUN} (default: all recorded runs)`)
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print JSON')
    .action(async (flags) => {
      const { whatIfCommand } = await import('./what-if-command.ts');
      process.stdout.write(await whatIfCommand(flags));
    });
}

function addActorCommands(program: Command, setExitCode: SetExitCode): void {
  program
    .command('send')
    .description('send an event to a durable actor, and continue it until it only waits')
    .argument('<actor>', ACTOR)
    .argument('<event>', 'type of the event, or the event as a JSON object')
    .option('--id <id>', 'id of the event; an event with a known id is ignored')
    .option('--module <file>', MODULE, collect)
    .action(async (actor, event, flags) => {
      const { sendCommand } = await import('./actor-commands.ts');
      print(await sendCommand(actor, event, flags), setExitCode);
    });
  for (const decision of ['approve', 'deny'] as const) {
    const command = program
      .command(decision)
      .description(`${decision} a question of a durable actor, and continue it until it only waits`)
      .argument('<actor>', ACTOR)
      .argument('[question]', 'id of the question, if there are several')
      .option('--reason <text>', 'reason to record in the journal')
      .option('--by <name>', 'name of the person, to record in the journal')
      .option('--module <file>', MODULE, collect);
    if (decision === 'approve') command.option('--edit <json>', 'approve this JSON instead of the question');
    command.action(async (actor, question, flags) => {
      const { answerCommand } = await import('./actor-commands.ts');
      print(await answerCommand(actor, decision, question, flags), setExitCode);
    });
  }
  program
    .command('stop')
    .description('end a durable actor, so that its calls do not start again')
    .argument('<actor>', ACTOR)
    .option('--module <file>', MODULE, collect)
    .action(async (actor, flags) => {
      const { stopCommand } = await import('./actor-commands.ts');
      print(await stopCommand(actor, flags), setExitCode);
    });
}

function addRepairCommand(program: Command, setExitCode: SetExitCode): void {
  program
    .command('repair')
    .description(
      'repair durable actors: retry or skip what failed, release those that workers have quarantined, or stop actors',
    )
    .addArgument(new Argument('<action>', 'what to do').choices(['retry', 'skip', 'release', 'stop']))
    .argument('[actor...]', `${ACTOR}; without it, all that match`)
    .option('--where <name=value>', 'only actors with this attribute; repeatable', collect)
    .option('--all', 'all actors that the action is for')
    .option('--limit <number>', 'at most this many', positiveInteger)
    .option('--output <json>', 'for skip: the result of the call that failed')
    .option('--dry-run', 'only show what would happen')
    .option('--json', 'print JSON')
    .option('--module <file>', MODULE, collect)
    .action(async (action, actors, flags) => {
      const { repairCommand } = await import('./actor-commands.ts');
      print(await repairCommand(action, actors, flags), setExitCode);
    });
}

function print({ text, code }: Printed, setExitCode: SetExitCode): void {
  process.stdout.write(text);
  setExitCode(code);
}

const RUN_OR_ACTOR = 'run id, a prefix of one, "last", a journal file, or the id of a durable actor';
const ACTOR = 'id of a durable actor, or a prefix of one';

/** The options override what the journal recorded. */
function withContinueOptions(command: Command): Command {
  command
    .argument('<run>', RUN_OR_ACTOR)
    .option('--docs <path...>', 'directories and files to answer from, instead of the recorded ones')
    .option('--mcp <server>', 'MCP server to use instead of the recorded ones; repeatable', collect)
    .option('--model <name>', 'model to use instead of the recorded one')
    .option('--base-url <url>', 'base URL of the model server, instead of the recorded one', serverUrl)
    .option('--trust', 'open what the journal names, even if it may come from someone else')
    .option('--module <file>', MODULE, collect)
    .option('--journals <place>', JOURNALS);
  return withInspectOptions(withAnswerOptions(command));
}
