import type { PackedPrompts, PromptAnswer, ShownPrompt } from './wire.ts';

/** Packs prompts for an exported page: each different line is stored once. */
export function packPrompts(prompts: ReadonlyMap<number, ShownPrompt>, problem: string | null): PackedPrompts {
  const positions = new Map<string, number>();
  const positionOf = (line: string): number => {
    const known = positions.get(line) ?? positions.size;
    positions.set(line, known);
    return known;
  };
  const pack = (text: string): readonly number[] => text.split('\n').map(positionOf);
  const bySeq = Object.fromEntries(
    [...prompts].map(([seq, { system, turns, schema, tools, ...rest }]) => [
      seq,
      {
        ...rest,
        system: pack(system),
        turns: turns.map(({ role, content }) => ({ role, content: pack(content) })),
        schema: pack(JSON.stringify(schema)),
        tools: pack(JSON.stringify(tools)),
      },
    ]),
  );
  return { lines: [...positions.keys()], bySeq, problem };
}

const NO_PROMPT = 'The file has no prompt for this entry.';

export function unpackPrompt({ lines, bySeq, problem }: PackedPrompts, seq: number): PromptAnswer {
  const packed = Object.hasOwn(bySeq, seq) ? bySeq[seq] : undefined;
  if (packed === undefined) return { prompt: null, problem: problem ?? NO_PROMPT };
  const text = (positions: readonly number[]): string => positions.map((at) => lines[at] ?? '').join('\n');
  const { name, version, verified, note } = packed;
  const prompt: ShownPrompt = {
    name,
    version,
    verified,
    note,
    system: text(packed.system),
    turns: packed.turns.map(({ role, content }) => ({ role, content: text(content) })),
    schema: JSON.parse(text(packed.schema)),
    tools: JSON.parse(text(packed.tools)),
  };
  return { prompt, problem: null };
}
