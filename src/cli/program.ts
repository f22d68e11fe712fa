import { Argument, Command, Option } from 'commander';
import type { ProfileName } from '../../machines/contracts/profile.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Shell } from './completion-command.ts';
import {
  collect,
  JOURNALS,
  portNumber,
  positiveInteger,
  positiveNumber,
  RUN,
  serverUrl,
  threshold,
  withAnswerOptions,
  withInspectOptions,
} from './flags.ts';
import { addRecordedRunCommands } from './recorded-run-commands.ts';
import type { BuiltIn } from './run-inputs.ts';

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];
const PROFILE_NAMES: readonly ProfileName[] = ['thorough', 'balanced', 'lean'];
const BUILT_IN_CAPABILITIES: readonly BuiltIn[] = ['current_time', 'search_documents', 'read_passage'];

/** Each command's code is loaded when it runs: `postchain --version` loads none of it. */
export function createProgram(setExitCode: (code: number) => void): Command {
  const program = new Command('postchain')
    .description(manifest.description)
    .version(manifest.version, '-v, --version')
    .addOption(new Option('-V').hideHelp())
    .on('option:V', () => {
      process.stdout.write(`${manifest.version}\n`);
      process.exit(0);
    })
    .option('--stack', 'print the stack trace of an error');
  addInitCommand(program);
  addRunCommand(program, setExitCode);
  addServeCommands(program, setExitCode);
  addMcpCommand(program);
  addRecordedRunCommands(program, setExitCode);
  addChartCommands(program, setExitCode);
  program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action(async (shell) => {
      const { completionScript } = await import('./completion-command.ts');
      process.stdout.write(completionScript(program, shell));
    });
  return program;
}

function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('create a project with an agent, a chat, a durable process or a support desk, and its tests')
    .argument('<name>', 'name of the project and its directory, or "." for the working directory')
    .addOption(
      new Option('--template <template>', 'what the project contains')
        .choices(['agent', 'chat', 'durable', 'desk'])
        .default('agent'),
    )
    .option('--package <spec>', 'postchain dependency: a version, a URL or a tarball (default: this version)')
    .action(async (name, flags) => {
      const { initCommand } = await import('./init-command.ts');
      process.stdout.write(await initCommand(name, flags));
    });
}

/** Adds the options that configure a chain: the model, what it may use, and its limits. */
function withChainOptions(command: Command): Command {
  return command
    .option('--docs <path...>', 'directories and files to answer from (Markdown, text, HTML, JSON, PDF, DOCX)')
    .addOption(
      new Option('--capability <name...>', 'built-in capabilities (tools) for the model').choices(
        BUILT_IN_CAPABILITIES,
      ),
    )
    .option('--embeddings <name>', 'embedding model of the model server: searches --docs by meaning, too')
    .option('--mcp <server>', 'URL or command of a Model Context Protocol server; repeatable', collect)
    .option('--instructions <text>', 'persona, language, style and rules for the answer, or @FILE')
    .option('--model <name>', 'model of an OpenAI-compatible server (see below), or "offline" for no LLM')
    .option('--base-url <url>', 'base URL of the model server (default: $OPENAI_BASE_URL)', serverUrl)
    .option('--fallback-model <name>', 'model to use if the one before it fails; repeatable', collect)
    .addOption(new Option('--api <api>', 'API of the model server (default: chat)').choices(['chat', 'responses']))
    .option('--reasoning-effort <level>', 'how long a reasoning model thinks, for example "low"')
    .option('--service-tier <tier>', 'processing tier of the model server, for example "flex"')
    .option('--no-stream', 'request each reply of the model server as one response')
    .addOption(
      new Option(
        '--profile <profile>',
        'model calls per answer: thorough (7 in one cycle), balanced (2, the default) or lean (1)',
      ).choices(PROFILE_NAMES),
    )
    .option('--max-cycles <count>', 'cycles before the run must answer (default: 5)', positiveInteger)
    .option('--timeout <seconds>', 'seconds before the run must answer (default: 600)', positiveNumber);
}

const MODEL_VARIABLES =
  '  OPENAI_API_KEY          key of the model server\n' +
  '  OPENAI_BASE_URL         base URL of the model server\n' +
  '  OPENAI_ORG_ID           organization that OpenAI bills\n' +
  '  OPENAI_PROJECT_ID       project that OpenAI bills\n' +
  '  POSTCHAIN_MODEL         default of --model\n';

function addMcpCommand(program: Command): void {
  const command = program
    .command('mcp')
    .description('offer the chain as a tool to Model Context Protocol clients, over standard input and output');
  withChainOptions(command)
    .option('--session-file <file>', 'SQLite file of the sessions (default: in memory)')
    .option('--journals <place>', JOURNALS)
    .addHelpText('after', `\nEnvironment variables:\n${MODEL_VARIABLES}  POSTCHAIN_JOURNALS      default of --journals`)
    .option('--machines', 'offer tools for the XState machines of a project instead: lint, explore, check, simulate, …')
    .option('--root <directory>', 'with --machines: directory whose files may be loaded (default: this one)')
    .option('--time-limit <seconds>', 'with --machines: longest time of one call (default: 60)', positiveNumber)
    .option('--memory-limit <megabytes>', 'with --machines: most memory of one call (default: 1024)', positiveInteger)
    .action(async ({ machines, root, timeLimit, memoryLimit, ...flags }) => {
      const given = { ...(root && { root }), ...(timeLimit && { timeLimit }), ...(memoryLimit && { memoryLimit }) };
      if (machines) return (await import('./machines/serve-machines.ts')).serveMachines(given);
      const { mcpCommand } = await import('./mcp-command.ts');
      await mcpCommand(flags);
    });
  program.command('machine-tool <megabytes>', { hidden: true }).action(async (megabytes) => {
    const { machineTool } = await import('./machines/machine-tool.ts');
    machineTool(Number(megabytes));
  });
}

function addRunCommand(program: Command, setExitCode: (code: number) => void): void {
  const command = withChainOptions(
    program
      .command('run')
      .description('send a request through the chain and print the answer')
      .argument('[request]', 'a question or task; without it, or with "-", it is read from standard input'),
  )
    .option('--attach <file>', 'image or PDF that belongs to the request; repeat the flag for each file', collect)
    .option('--history <file>', 'earlier turns, as a JSON array or JSON lines of {"role", "content"}')
    .option('--session <id>', 'continue this session, and add the run to it')
    .option('--session-file <file>', 'SQLite file of the sessions (default: ~/.postchain/sessions.db)')
    .option(
      '--start-at <phase>',
      'first phase: action, experience, intention, observation, understanding or yield (default: action)',
    )
    .option('--manual', 'ask for the next phase when no rule ends the run');
  withAnswerOptions(command)
    .option('--journal <file>', 'write the journal to this file, not to --journals')
    .option('--force', 'let --journal overwrite a file that is not a journal')
    .option('--no-journal', 'write no journal')
    .option('--journals <place>', JOURNALS);
  withInspectOptions(command)
    .addHelpText(
      'after',
      '\nEnvironment variables:\n' +
        MODEL_VARIABLES +
        '  POSTCHAIN_JOURNALS      default of --journals\n' +
        '  POSTCHAIN_HOME          directory of journals and sessions (~/.postchain)\n' +
        '  POSTCHAIN_CONTINUATION  "model": the model may run several tools in a row\n' +
        '\nExit codes: 0 answered, 1 other error, 2 invalid usage,\n            3 degraded answer, 4 incomplete journal, 130 interrupted',
    )
    .action(async (request, flags) => {
      const [{ readRequest }, { runCommand }] = await Promise.all([
        import('./read-request.ts'),
        import('./run-command.ts'),
      ]);
      const read = await readRequest(request, flags);
      setExitCode(await runCommand(read.request, { ...flags, docs: read.docs }));
    });
}

function addServeCommands(program: Command, setExitCode: (code: number) => void): void {
  const serve = program.command('serve').description('serve a chain, agents and durable machines over HTTP');
  withServeOptions(serve).action(async (flags) => {
    const { serveCommand } = await import('./serve-command.ts');
    await serveCommand(flags);
  });
  const dev = program
    .command('dev')
    .description(
      'serve durable machines with a worker and the inspector, and start again after each change of their code',
    );
  withServeOptions(dev)
    .addOption(
      new Option('--inspect-port <port>', 'port of the inspector, or 0 for a free one')
        .argParser(portNumber)
        .default(8788),
    )
    .action(async (flags) => {
      const { devCommand } = await import('./dev-command.ts');
      setExitCode(await devCommand(flags));
    });
}

function withServeOptions(command: Command): Command {
  return withChainOptions(command)
    .option('--session-file <file>', 'SQLite file of the sessions (default: in memory)')
    .option(
      '--module <file>',
      'module whose durable machines are served, too; repeatable (default: postchain.config.mjs, .js, .ts or .mts)',
      collect,
    )
    .option('--agents <file>', 'module whose durable machines are served as agents; repeatable', collect)
    .option(
      '--journals <place>',
      'directory, SQLite file or postgres:// URL of the journals (default: $POSTCHAIN_JOURNALS or ~/.postchain/served)',
    )
    .addOption(
      new Option('--port <port>', 'port of the server, or 0 for a free one').argParser(portNumber).default(8787),
    )
    .option(
      '--host <address>',
      'address to listen on; one other than loopback requires tokens and --allow-host',
      '127.0.0.1',
    )
    .option('--allow-host <name>', 'public host name of the server; repeatable', collect)
    .option('--origin <origin>', 'origin whose pages may call the server (CORS); repeatable', collect)
    .option('--token <token>', 'token that clients send; other users can see it in the process list')
    .addOption(
      new Option('--log <format>', 'format of the log on standard output').choices(['text', 'json']).default('text'),
    )
    .addHelpText(
      'after',
      '\nEnvironment variables:\n' +
        MODEL_VARIABLES +
        '  POSTCHAIN_JOURNALS      default of --journals\n' +
        '  POSTCHAIN_TOKENS        tokens and their owners: token=owner,token=owner',
    );
}

const CHART = 'chain, attempt, action, or a module that exports a machine';

function addChartCommands(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('prompts')
    .description('list the prompts sent to models, or one with the schema of its reply')
    .argument('[name]', 'name of a prompt, for example action')
    .option('--json', 'print JSON')
    .action(async (name, flags) => {
      const { promptsCommand } = await import('./prompts-command.ts');
      process.stdout.write(promptsCommand(name, flags));
    });

  program
    .command('diagram')
    .description('print a chart as Mermaid or JSON')
    .argument('[chart]', CHART, 'chain')
    .option('--format <format>', 'mermaid or json', 'mermaid')
    .option('--depth <levels>', 'levels of nested states to draw', positiveInteger)
    .action(async (name, flags) => {
      const { diagramCommand } = await import('./diagram-command.ts');
      process.stdout.write(await diagramCommand(name, flags));
    });

  program
    .command('explore')
    .description('explore all reachable states of a chart')
    .argument('[chart]', CHART, 'chain')
    .option('--json', 'print the states and edges as JSON')
    .action(async (name, flags) => {
      const { exploreCommand } = await import('./explore-command.ts');
      process.stdout.write(await exploreCommand(name, flags));
    });

  program
    .command('paths')
    .description('print short paths that cover a chart, as scenarios')
    .argument('[chart]', CHART, 'chain')
    .action(async (name) => {
      const { pathsCommand } = await import('./paths-command.ts');
      process.stdout.write(await pathsCommand(name));
    });

  program
    .command('lint')
    .description('check properties of a chart, such as no dead ends')
    .argument('[chart]', CHART, 'chain')
    .action(async (name) => {
      const { lintCommand } = await import('./lint-command.ts');
      const { text, holds } = await lintCommand(name);
      process.stdout.write(text);
      if (!holds) setExitCode(1);
    });

  program
    .command('coverage')
    .description('report which parts of the charts were reached by recorded runs, or by exploring a module')
    .argument('<runs...>', `${RUN}; or a module that exports a machine`)
    .option('--journals <place>', JOURNALS)
    .option('--json', 'print JSON')
    .option('--all', 'list every part that was not reached')
    .option('--min <percent>', 'exit with 1 below this percentage, such as 80 or guards=60; repeatable', threshold)
    .action(async (names, flags) => {
      const { coverageCommand } = await import('./coverage-command.ts');
      const { text, missed } = await coverageCommand(names, flags);
      process.stdout.write(text);
      for (const line of missed) process.stderr.write(`${line}\n`);
      if (missed.length > 0) setExitCode(1);
    });
}
