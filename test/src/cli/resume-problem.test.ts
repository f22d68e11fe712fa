import { describe, expect, it } from 'vitest';
import { resumeProblem } from '../../../src/cli/recorded-flags.ts';

const about = (modelId: string, tools: readonly string[] = [], place = 'my runs') =>
  resumeProblem({ runId: 'r-1', modelId, tools, host: null }, place)?.split('\n');

describe('why the inspector cannot resume a run', () => {
  it('gives the complete command with the name of the recorded model, if the command line has that model', () => {
    expect(about('openai:gpt-x')?.[1]).toBe("postchain resume r-1 --model gpt-x --journals 'my runs'");
    expect(about('scripted')?.[1]).toBe("postchain resume r-1 --model NAME --journals 'my runs'");
  });

  it('hides the whole password of a store', () => {
    expect(about('offline-x', [], 'postgres://me:p@ss@host/runs')?.[1]).toContain('postgres://me:PASSWORD@host/runs');
  });

  it('names the tools that only the program of the run has, and the call that resumes it there', () => {
    expect(about('scripted', ['refund'])).toEqual([
      'The run needs the model scripted and the tools refund, which this inspector does not have. Resume it in the program that started it:',
      'await chain.resume("r-1")',
    ]);
  });
});
