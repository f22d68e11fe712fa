import { describe, expect, it } from 'vitest';
import { createRestateChain, type RestateChainOptions } from '../../../../src/entries/restate.ts';

describe('createRestateChain', () => {
  it('returns a workflow with four handlers and the given name', () => {
    expect(createRestateChain()).toMatchObject({ name: 'postchain' });
    const chain = createRestateChain({}, { name: 'answers' }) as unknown as { name: string; workflow: object };
    expect(chain.name).toBe('answers');
    expect(Object.keys(chain.workflow)).toEqual(['run', 'send', 'status', 'journal']);
  });

  it('loads the polyfill that the SDK needs on Node 20', () => {
    expect('withResolvers' in Promise).toBe(true);
  });

  it.each([
    [{ limits: { maxCycles: 0 } }, 'maxCycles'],
    [{ nonsense: 1 }, 'nonsense'],
    [{ newId: () => 'mine' }, 'newId'],
    [{ maxConcurrentRuns: 2 }, 'maxConcurrentRuns'],
    [{ journals: { create: () => {}, open: () => {}, list: () => {} } }, 'journals'],
  ])('rejects %j', (options, named) => {
    expect(() => createRestateChain(options as RestateChainOptions)).toThrow(named);
    expect(() => createRestateChain(options as RestateChainOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
