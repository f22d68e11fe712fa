import { Command, Option } from 'commander';
import { PostChainError } from '../../machines/contracts/error.ts';
import manifest from '../../package.json' with { type: 'json' };
import {
  ANSWER_FORMATS,
  CONSENT_CHOICES,
  eachOf,
  inspecting,
  JOURNALS,
  positive,
  RUN,
  threshold,
  wholeNumber,
} from './flag-values.ts';
import type { BuiltIn } from './open-capabilities.ts';
import { recordedRuns } from './recorded-runs.ts';

const BUILT_IN_CAPABILITIES: readonly BuiltIn[] = ['calculator', 'current_time', 'search_documents', 'read_passage'];

/** What the commands do, each loaded when it is called: `postchain --version` loads none of them. */
export function createProgram(finish: (code: number) => void): Command {
  const program = new Command('postchain')
    .description(manifest.description)
    .version(manifest.version)
    .option('--stack', 'print the stack of an error');

  inspecting(program.command('run'))
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

  recordedRuns(program, finish);

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

  chartCommands(program, finish);

  return program;
}

/** The commonest cause: `--docs` takes all paths that follow it, the request among them. */
function noRequest(): never {
  throw new PostChainError(
    'invalid_request',
    'There is no request: put it first, like postchain run "What is a cycle?" --docs docs.',
  );
}

const CHART = 'chain, attempt, action, or a module that exports a machine and the outcomes of its actors';

/** The commands that look at what charts can do, and at what runs have done with ours. */
function chartCommands(program: Command, finish: (code: number) => void): void {
  program
    .command('explore')
    .description('all that can happen to a machine: its states and the edges between them')
    .argument('[chart]', CHART, 'chain')
    .option('--json', 'print the states and edges as one JSON object')
    .action(async (name, flags) => {
      const { exploreCommand } = await import('./explore-command.ts');
      process.stdout.write(await exploreCommand(name, flags));
    });

  program
    .command('paths')
    .description('few short ways through a machine that cover its chart, as scenarios')
    .argument('[chart]', CHART, 'chain')
    .action(async (name) => {
      const { pathsCommand } = await import('./paths-command.ts');
      process.stdout.write(await pathsCommand(name));
    });

  program
    .command('lint')
    .description('what holds of a machine wherever it comes, and how to see what does not')
    .argument('<chart>', CHART)
    .action(async (name) => {
      const { lintCommand } = await import('./lint-command.ts');
      const { text, holds } = await lintCommand(name);
      process.stdout.write(text);
      if (!holds) finish(1);
    });

  program
    .command('coverage')
    .description('what of the three charts recorded runs brought about')
    .argument('<runs...>', `each ${RUN}`)
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print it as one JSON array')
    .option('--html <file>', 'write a page with the charts coloured')
    .option('--min <percent>', 'exit 1 where a machine reaches less: 80, or of a kind guards=60; repeatable', threshold)
    .action(async (names, flags) => {
      const { coverageCommand } = await import('./coverage-command.ts');
      const { text, missed } = await coverageCommand(names, flags);
      process.stdout.write(text);
      for (const line of missed) process.stderr.write(`${line}\n`);
      if (missed.length > 0) finish(1);
    });
}
