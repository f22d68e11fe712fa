import { spawn } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Finished } from '../support/cli.ts';
import { isSoak } from '../support/soak.ts';

/** Invented data sets in the format of the public ones. */
const CORPUS = 'test/eval/corpus';

/** The result of a measurement in `--json`. */
interface Found {
  readonly value: number;
  readonly unit: string;
  readonly rows: number;
  readonly holds: boolean | null;
  readonly baselines?: Readonly<Record<string, number>>;
  readonly recalls?: Readonly<Record<string, number>>;
}

/** Runs the evaluation of the built policies. */
function evaluate(...args: readonly string[]): Promise<Finished> {
  const child = spawn(process.execPath, ['bench/eval/main.mjs', ...args]);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece;
    });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...text })));
}

interface Floor {
  readonly rows: number;
  readonly least: number;
  readonly over?: string[];
}

/** Lower bounds for our own data sets, well below today's values. */
const FLOORS: Readonly<Record<string, Floor>> = {
  retention_dialogue_own_size: { rows: 20, least: 0.9, over: ['the newest'] },
  retention_dialogue_16000: { rows: 20, least: 1 },
  retention_dialogue_8000: { rows: 20, least: 1 },
  retention_roles_own_size: { rows: 20, least: 0.8, over: ['the newest'] },
  retention_paragraphs_half: { rows: 12, least: 0.85 },
  completion_traces: { rows: 94, least: 0.9, over: ["believing the model's Finish", 'never complete'] },
  completion_claims_only: {
    rows: 37,
    least: 0.75,
    over: ["believing the model's Finish", 'a Finish with at most 5 words'],
  },
  completion_dialogue: { rows: 60, least: 0.85, over: ['goodbye pattern', 'never complete'] },
  sufficiency: { rows: 24, least: 0.6 },
  path_efficiency: { rows: 8, least: 0.6, over: ['always to the limit'] },
  path_efficiency_among_others: { rows: 8, least: 0.5, over: ['always to the limit'] },
};

/** Those of measurements that take minutes. */
const SLOW_FLOORS: typeof FLOORS = {
  recorded_agree_balanced: { rows: 40, least: 1 },
  recorded_agree_lean: { rows: 40, least: 1 },
  profiles_agree_balanced: { rows: 269, least: 0.95 },
  profiles_agree_lean: { rows: 269, least: 0.95 },
};

/** All measurements in the soak, else those that take seconds. */
const MEASURES = isSoak ? [] : ['retention', 'paragraphs', 'traces', 'dialogue', 'sufficiency', 'path'];
if (isSoak) process.stderr.write('soak: all measurements of our own corpus\n');

describe('the evaluation of our own corpus', () => {
  let finished: Finished;
  let found: Readonly<Record<string, Found>>;

  beforeAll(async () => {
    finished = await evaluate(...MEASURES, '--data', CORPUS, '--json');
    found = JSON.parse(finished.stdout);
  });

  it.each(Object.entries(isSoak ? { ...FLOORS, ...SLOW_FLOORS } : FLOORS))(
    '[U14] [Y12] reports %s with its rows, baselines, and target result, and stays above its lower bound',
    (measure, { rows, least, over = [] }) => {
      const { [measure]: result } = found;
      if (result === undefined) throw new Error(`no ${measure} in ${Object.keys(found)}`);
      expect(result.rows).toBe(rows);
      expect(result.unit).not.toBe('');
      expect([true, false, null]).toContain(result.holds);
      expect(result.value).toBeGreaterThanOrEqual(least);
      expect(result.value).toBeLessThanOrEqual(1);
      expect(Object.keys(result.baselines ?? {})).not.toEqual([]);
      for (const share of Object.values(result.baselines ?? {})) expect(share >= 0 && share <= 1).toBe(true);
      for (const baseline of over) expect(result.value).toBeGreaterThan(result.baselines?.[baseline] ?? 1);
    },
  );

  it.each(['completion_traces', 'completion_dialogue', 'sufficiency'])(
    '[Y12] reports the recall of both classes for %s, and keeps both high',
    (measure) => {
      const { complete = 0, incomplete = 0 } = found[measure]?.recalls ?? {};
      expect(found[measure]?.value).toBeCloseTo((complete + incomplete) / 2, 12);
      expect(Math.min(complete, incomplete)).toBeGreaterThan(0.3);
    },
  );

  it('exits with 0, and measures the evaluation times in the soak', () => {
    for (const measure of isSoak ? ['evaluation_cold_ms', 'evaluation_one_more_ms'] : [])
      expect(found[measure]).toMatchObject({ value: expect.any(Number), rows: expect.any(Number) });
    expect(finished.code).toBe(0);
  });
});
