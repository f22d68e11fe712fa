import type { Command } from 'commander';
import { JOURNALS, RUN, threshold } from './flag-values.ts';

const CHART = 'chain, attempt, action, or a module that exports a machine and the outcomes of its actors';

/** The commands that look at what charts can do, and at what runs have done with ours. */
export function chartCommands(program: Command, finish: (code: number) => void): void {
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
