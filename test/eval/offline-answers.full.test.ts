import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';

interface Result {
  readonly value: number;
  readonly rows: number;
  readonly holds: boolean | null;
  readonly detail?: Readonly<Record<string, number | string>>;
}

describe('the answers of the extractive model to the questions of the corpus', () => {
  let results: Readonly<Record<string, Result>>;

  beforeAll(() => {
    const { stdout, stderr } = spawnSync(process.execPath, ['bench/eval/main.mjs', 'offline', '--json'], {
      encoding: 'utf8',
    });
    if (stdout === '') throw new Error(stderr);
    results = JSON.parse(stdout);
    process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  });

  const found = (name: string): Result => {
    const { [name]: result } = results;
    if (result === undefined) throw new Error(`no ${name} in ${Object.keys(results)}`);
    return result;
  };

  it('are right in at least 85 % of the cases with a confidence of 0.7 or more', () => {
    expect(found('offline_answers_sure')).toMatchObject({ holds: true });
    expect(found('offline_answers_sure').rows).toBeGreaterThanOrEqual(40);
    expect(found('offline_answers_sure').value).toBeGreaterThanOrEqual(0.85);
  });

  it('have a confidence of at most 0.3 if no document answers the question', () => {
    expect(found('offline_answers_unanswerable').rows).toBeGreaterThanOrEqual(100);
    expect(found('offline_answers_unanswerable').value).toBeLessThanOrEqual(0.3);
  });

  it('contain the expected text for at least 85 % of the answerable questions, with any confidence', () => {
    expect(found('offline_answers_answerable').value).toBeGreaterThanOrEqual(0.85);
  });

  it('hold for questions on which the model was not tuned', () => {
    expect(found('offline_answers_unseen_sure').value).toBeGreaterThanOrEqual(0.85);
    expect(Number(found('offline_answers_unseen_unanswerable').detail?.['above'])).toBeLessThanOrEqual(2);
  });
});
