import { describe, expect, it, vi } from 'vitest';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { PostChainError as DurableError } from '../../../src/durable/error.ts';

async function otherCopy(): Promise<typeof PostChainError> {
  vi.resetModules();
  return (await import('../../../machines/contracts/error.ts')).PostChainError;
}

describe('errors', () => {
  it('are recognized across copies of the package, and by durable machines', async () => {
    const Copy = await otherCopy();
    expect(Copy).not.toBe(PostChainError);
    const classes = [PostChainError, Copy, DurableError];
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
      expect(DurableError.isInstance(value)).toBe(false);
      expect(value).not.toBeInstanceOf(PostChainError);
      expect(value).not.toBeInstanceOf(DurableError);
    }
  });

  it.each([PostChainError, DurableError])('keep subclasses apart', (Base) => {
    class Special extends Base {}
    expect(new Special('internal', 'special')).toBeInstanceOf(Special);
    expect(new Special('internal', 'special')).toBeInstanceOf(Base);
    expect(new Base('internal', 'ordinary')).not.toBeInstanceOf(Special);
  });

  it.each([PostChainError, DurableError])('have a message of one printable line, whatever they quote', (Thrown) => {
    const { message } = new Thrown('internal', 'a\n\u001b[2J\u2028b\u202ec\u009b');
    expect(message).toBe('a [2J b c ');
  });

  it('print no mark', () => {
    expect(Reflect.ownKeys({ ...new PostChainError('internal', 'broken') })).toEqual(['name', 'code']);
  });
});
