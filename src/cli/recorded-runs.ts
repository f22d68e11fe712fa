import { type Command, Option } from 'commander';
import { PostChainError } from '../../machines/contracts/error.ts';
import {
  ANSWER_FORMATS,
  CONSENT_CHOICES,
  eachOf,
  inspecting,
  JOURNALS,
  portNumber,
  positive,
  RUN,
  wholeNumber,
} from './flag-values.ts';

/** The commands of runs whose journals are kept. */
export function recordedRuns(program: Command, finish: (code: number) => void): void {
  program
    .command('runs')
    .description('list the runs whose journals are kept, the newest first')
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print JSON, and nothing else')
    .action(async (flags) => {
      const { runsCommand } = await import('./runs-command.ts');
      process.stdout.write(await runsCommand(flags));
    });

  program
    .command('show')
    .description('tell the story of a run, each line with the number of its entry')
    .argument('<run>', RUN)
    .option('--all', 'a line for every entry of the journal, with what each guard said and saw')
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print the entries as JSON lines, and nothing else')
    .action(async (run, flags) => {
      const { showCommand } = await import('./show-command.ts');
      await showCommand(run, flags);
    });

  program
    .command('replay')
    .description('play a recorded run on the charts, with no model, and tell whether every decision is the same')
    .argument('<run>', RUN)
    .option('--speed <times>', 'show it as it went, so many times as fast', positive)
    .addOption(
      new Option('--update', 'take what the charts make of it now in place of the recording, a file').conflicts(
        'vitest',
      ),
    )
    .option('--vitest <file>', 'write a test of it, and beside it the recording')
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print one JSON object, and nothing else')
    .action(async (run, flags) => {
      const { replayCommand } = await import('./replay-command.ts');
      finish(await replayCommand(run, flags));
    });

  program
    .command('inspect')
    .description('show runs that are kept in the inspector, a page in your browser, until Ctrl-C')
    .argument('[run]', `the run that it opens first: ${RUN}`)
    .option('--port <port>', 'the port of the page (default: one that is free)', portNumber)
    .option('--journals <place>', JOURNALS)
    .action(async (run, flags) => {
      const { inspectCommand } = await import('./inspect-command.ts');
      finish(await inspectCommand(run, flags));
    });

  program
    .command('export')
    .description('write a run as one page that opens from disk, for somebody else')
    .argument('<run>', RUN)
    .option('-o, --output <file>', 'the page (default: run-ID.html)')
    .option('--redact <text>', 'a text, or a regular expression between slashes, to hide; several in order', eachOf)
    .option('--preview', 'write nothing: list what would be hidden, and what looks like a secret')
    .option('--force', 'write over a file that is there')
    .option('--journals <place>', JOURNALS)
    .action(async (run, flags) => {
      const { exportCommand } = await import('./export-command.ts');
      process.stdout.write(await exportCommand(run, flags));
    });

  goingOn(program.command('resume').description('go on with a run whose process ended: nothing is asked twice')).action(
    async (run, flags) => {
      const { resumeCommand } = await import('./go-on-command.ts');
      finish(await resumeCommand(run, flags));
    },
  );

  goingOn(program.command('fork').description('begin a run that is another one up to an entry, with something changed'))
    .requiredOption('--at <entry>', 'the number of the entry that is to come out otherwise', wholeNumber)
    .option('--set <path=value>', 'what is changed: limits.…, thresholds.…, phase, reply.…; several in order', eachOf)
    .action(async (run, flags) => {
      const { forkCommand } = await import('./go-on-command.ts');
      finish(await forkCommand(run, flags));
    });

  program
    .command('context')
    .description('show what was done to the context of a run, and what undoing some of it would give')
    .argument('[run]', `${RUN}; it stands before --undo`)
    .option('--undo <id...>', 'operations to leave out, by their ids')
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print one JSON object, and nothing else')
    .action(async (journal, flags) => {
      const { contextCommand } = await import('./context-command.ts');
      process.stdout.write(await contextCommand(journal ?? noJournal(), flags));
    });
}

/** The options of a command that goes on with a run: what it was begun with stands in its journal, and can be given anew. */
function goingOn(command: Command): Command {
  return inspecting(command)
    .argument('<run>', RUN)
    .option('--docs <path...>', 'other folders and files to answer from')
    .option('--mcp <server>', 'other servers of tools; several in order', eachOf)
    .option('--model <name>', 'another model')
    .option('--trust', 'open the documents, servers and sessions that a journal file names: for one that you wrote')
    .option('--journals <place>', JOURNALS)
    .addOption(
      new Option('--consent <choice>', 'what becomes of long messages of yours, in place of asking').choices(
        CONSENT_CHOICES,
      ),
    )
    .addOption(new Option('--format <format>', 'how the answer is printed (default text)').choices(ANSWER_FORMATS))
    .addOption(new Option('--json', 'the same as --format json').conflicts(['quiet', 'format']))
    .option('--quiet', 'print the answer and no progress');
}

function noJournal(): never {
  throw new PostChainError(
    'invalid_path',
    'There is no journal: put it first, like postchain context run.jsonl --undo s5.o1; "postchain run --journal FILE" writes one.',
  );
}
