import { describe, expect, it, vi } from 'vitest';
import { PostChainError } from '../../../machines/contracts/error.ts';

async function otherCopy(): Promise<typeof PostChainError> {
  vi.resetModules();
  return (await import('../../../machines/contracts/error.ts')).PostChainError;
}

describe('errors', () => {
  it('are recognized across copies of the package', async () => {
    const Copy = await otherCopy();
    expect(Copy).not.toBe(PostChainError);
    const classes = [PostChainError, Copy];
    for (const Thrown of classes)
      for (const Checked of classes) {
        const error = new Thrown('invalid_option', 'expected a number');
        expect(error).toBeInstanceOf(Checked);
        expect(Checked.isInstance(error)).toBe(true);
      }
  });

  it('are not confused with other values', () => {
    for (const value of [new Error('other'), null, undefined, 'invalid_option', { code: 'invalid_option' }]) {
      expect(PostChainError.isInstance(value)).toBe(false);
      expect(value).not.toBeInstanceOf(PostChainError);
    }
  });

  it('keep subclasses apart', () => {
    class Special extends PostChainError {}
    expect(new Special('internal', 'special')).toBeInstanceOf(Special);
    expect(new Special('internal', 'special')).toBeInstanceOf(PostChainError);
    expect(new PostChainError('internal', 'ordinary')).not.toBeInstanceOf(Special);
  });

  it('have a message of one printable line, whatever they quote', () => {
    const { message } = new PostChainError('internal', 'a\n\u001b[2J\u2028b\u202ec\u009b');
    expect(message).toBe('a [2J b c ');
  });

  it('print no mark', () => {
    expect(Reflect.ownKeys({ ...new PostChainError('internal', 'broken') })).toEqual(['name', 'code']);
  });
});
