import type { EntryOf } from '../entry-of.ts';

type Candidate = EntryOf<'transition'>['candidates'][number];
type Input = NonNullable<Candidate['inputs']>[string];

/** A number that a guard saw in each run; undefined where it saw none of that name. */
interface InputBeside {
  readonly name: string;
  readonly values: readonly (Input | undefined)[];
  readonly differs: boolean;
}

/** A candidate of a transition as it came out in each run; null where a run did not have it. */
export interface CandidateBeside {
  readonly guard: string | null;
  readonly target: readonly string[];
  readonly verdicts: readonly (Candidate['verdict'] | null)[];
  readonly inputs: readonly InputBeside[];
  /** It is the first that said something else: from here on the runs went apart. */
  readonly parts: boolean;
}

const nameOf = ({ guard, target }: Candidate): string => JSON.stringify([guard, target]);

/** The candidates of one step in each run, in the order of the chart; null for a run that took no step there. */
export function candidatesBeside(entries: readonly (EntryOf<'transition'> | null)[]): readonly CandidateBeside[] {
  const names = [...new Set(entries.flatMap((entry) => entry?.candidates.map(nameOf) ?? []))];
  let parted = false;
  return names.flatMap((name) => {
    const sides = entries.map((entry) => entry?.candidates.find((candidate) => nameOf(candidate) === name) ?? null);
    const one = sides.find((side) => side !== null);
    if (one === undefined) return [];
    const verdicts = sides.map((side) => side?.verdict ?? null);
    const parts = !parted && differ(verdicts);
    parted ||= parts;
    return [{ guard: one.guard, target: one.target, verdicts, inputs: inputsOf(sides), parts }];
  });
}

function inputsOf(sides: readonly (Candidate | null)[]): readonly InputBeside[] {
  const names = [...new Set(sides.flatMap((side) => Object.keys(side?.inputs ?? {})))];
  const asked = sides.filter((side) => side?.inputs);
  return names.map((name) => {
    const values = sides.map((side) => side?.inputs?.[name]);
    return { name, values, differs: differ(asked.map((side) => side?.inputs?.[name])) };
  });
}

const differ = (values: readonly unknown[]): boolean => values.some((value) => value !== values[0]);
