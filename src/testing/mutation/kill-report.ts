import type { AnyStateMachine } from 'xstate';
import { firstLineOf } from '../first-line.ts';
import type { Mutant } from './mutants.ts';

/** What became of one mutant: by what a suite found it out, or null where it passed for the real one. */
export interface MutantResult {
  readonly name: string;
  readonly killedBy: string | null;
}

export interface KillReport {
  readonly results: readonly MutantResult[];
  readonly killed: number;
  readonly survivors: readonly string[];
}

/** Runs a suite over mutants, one after the other. A suite throws, or rejects, where it finds something wrong. */
export async function killReport<Machine extends AnyStateMachine>(
  mutants: readonly Mutant<Machine>[],
  suite: (machine: Machine) => unknown,
): Promise<KillReport> {
  const results: MutantResult[] = [];
  for (const { name, machine } of mutants) results.push({ name, killedBy: await wrongWith(machine, suite) });
  const survivors = results.filter(({ killedBy }) => killedBy === null).map(({ name }) => name);
  return { results, killed: results.length - survivors.length, survivors };
}

async function wrongWith<Machine>(machine: Machine, suite: (machine: Machine) => unknown): Promise<string | null> {
  try {
    await suite(machine);
    return null;
  } catch (error) {
    return firstLineOf(error);
  }
}
