import { Command, InvalidArgumentError, Option } from 'commander';
import type { ConsentChoice } from '../../machines/contracts/consent.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { BuiltIn } from './open-capabilities.ts';
import type { AnswerFormat } from './render-answer.ts';

const BUILT_IN_CAPABILITIES: readonly BuiltIn[] = ['calculator', 'current_time', 'search_documents', 'read_passage'];
const CONSENT_CHOICES: readonly ConsentChoice[] = ['keep', 'summarise', 'remove'];
const ANSWER_FORMATS: readonly AnswerFormat[] = ['text', 'markdown', 'json'];

/** What the commands do, each loaded when it is called: `postchain --version` loads none of them. */
export function createProgram(finish: (code: number) => void): Command {
  const program = new Command('postchain')
    .description(manifest.description)
    .version(manifest.version)
    .option('--stack', 'print the stack of an error');

  program
    .command('run')
    .description('send a request through the chain and print the answer')
    .argument('[request]', 'a question or a task, in words; it stands before --docs')
    .option('--docs <path...>', 'folders and files to answer from: Markdown, text, HTML, JSON')
    .addOption(
      new Option('--capability <name...>', 'what the model may run beside the documents').choices(
        BUILT_IN_CAPABILITIES,
      ),
    )
    .option(
      '--mcp <server>',
      'tools of a Model Context Protocol server, by its URL or command; several in order',
      eachOf,
    )
    .option('--history <file>', 'earlier turns: a JSON array, or JSON lines, of {"role", "content"}')
    .option('--session <id>', 'the session that the request belongs to: it is given the earlier turns, and becomes one')
    .option('--session-file <file>', 'the SQLite file of the sessions (default ~/.postchain/sessions.db)')
    .option('--model <name>', 'a model of an OpenAI-compatible server, or "offline" (OPENAI_API_KEY, OPENAI_BASE_URL)')
    .option('--fallback-model <name>', 'takes over where the model cannot go on; several in order', eachOf)
    .option('--max-cycles <count>', 'cycles before it must answer (default 5)', wholeNumber)
    .option('--timeout <seconds>', 'seconds before it must answer (default 600)', positive)
    .option('--start-at <phase>', 'the phase to begin with (default action)')
    .option('--manual', 'ask where to go on when no rule ends the run')
    .addOption(
      new Option('--consent <choice>', 'what becomes of long messages of yours, in place of asking').choices(
        CONSENT_CHOICES,
      ),
    )
    .option('--journal <file>', 'write the journal of the run into this file, in place of those that are kept')
    .option('--no-journal', 'keep no journal of the run')
    .option('--journals <place>', JOURNALS)
    .addOption(new Option('--format <format>', 'how the answer is printed (default text)').choices(ANSWER_FORMATS))
    .addOption(
      new Option('--json', 'the same as --format json: one object, and nothing else').conflicts(['quiet', 'format']),
    )
    .option('--quiet', 'print the answer and no progress')
    .addHelpText(
      'after',
      '\nPOSTCHAIN_CONTINUATION=model lets the model run several capabilities, one after the other.' +
        '\nExit codes: 0 answered, 3 a degraded answer, 2 wrong usage, 130 interrupted, 1 anything else.',
    )
    .action(async (request, flags) => {
      const { runCommand } = await import('./run-command.ts');
      finish(await runCommand(request ?? noRequest(), flags));
    });

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

  program
    .command('prompts')
    .description('list the prompts that models are asked with, or print one of them whole')
    .argument('[name]', 'a prompt of the list, say action')
    .option('--json', 'print JSON, and nothing else')
    .action(async (name, flags) => {
      const { promptsCommand } = await import('./prompts-command.ts');
      process.stdout.write(promptsCommand(name, flags));
    });

  program
    .command('diagram')
    .description('print a chart, drawn from the machine that runs')
    .argument('[chart]', 'chain, attempt or action', 'chain')
    .option('--format <format>', 'mermaid or json', 'mermaid')
    .option('--depth <levels>', 'how many levels of states to draw', wholeNumber)
    .action(async (name, flags) => {
      const { diagramCommand } = await import('./diagram-command.ts');
      process.stdout.write(diagramCommand(name, flags));
    });

  return program;
}

const JOURNALS = 'where journals are kept: a folder, or an SQLite file (default ~/.postchain/journals)';
const RUN = 'a journal file, the id of a run or the beginning of it, or "last"';

/** The options of a command that goes on with a run: what it was begun with stands in its journal, and can be given anew. */
function goingOn(command: Command): Command {
  return command
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

/** The commonest cause: `--docs` takes all paths that follow it, the request among them. */
function noRequest(): never {
  throw new PostChainError(
    'invalid_request',
    'There is no request: put it first, like postchain run "What is a cycle?" --docs docs.',
  );
}

function noJournal(): never {
  throw new PostChainError(
    'invalid_path',
    'There is no journal: put it first, like postchain context run.jsonl --undo s5.o1; "postchain run --journal FILE" writes one.',
  );
}

/** An option that may be given several times. */
function eachOf(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('Wanted a whole number of at least 1.');
  return Number(text);
}

function positive(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !(number > 0 && number <= 2_000_000))
    throw new InvalidArgumentError('Wanted a number above 0.');
  return number;
}
