import { type SessionTurn, sessionTurnSchema } from '../../../machines/contracts/session.ts';
import { invalidOption } from '../../internal/invalid-option.ts';

/**
 * A turn as the text that a store keeps: JSON, so that nobody who still holds the turn can change what is kept, and that any character
 * of it is safe in a file. Throws `invalid_option` for what is no turn.
 */
export function textOfTurn(turn: SessionTurn): string {
  const read = sessionTurnSchema.safeParse(turn);
  if (!read.success) throw invalidOption('The turn', turn, read.error);
  return JSON.stringify(read.data);
}

/** Null for what is no turn: a damaged one, say, or one that another program wrote. */
export function turnOfText(text: unknown): SessionTurn | null {
  if (typeof text !== 'string') return null;
  try {
    const read = sessionTurnSchema.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
