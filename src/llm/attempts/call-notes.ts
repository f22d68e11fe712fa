import type { Annotation } from '../../../machines/contracts/journal.ts';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import type { Clock } from '../../durable/clock.ts';
import { type PromptWriter, textsOf } from '../recorded-prompts.ts';
import { requestDigest } from '../request-digest.ts';

/** Limits of a piece of text: it is recorded when text arrives this long after the last record, or when it is this long. */
const MAX_PIECE_MS = 200;
const MAX_PIECE_CHARS = 1_024;

interface CallNotes {
  /** Receives the notes. */
  readonly note: (note: Annotation) => void;
  readonly clock: Clock;
  readonly prompts: PromptWriter;
}

interface Call {
  readonly attemptId: string;
}

/** Returns an observer that notes the prompt of a call and the text of its reply, small pieces joined. */
export function callNotes({ note, clock, prompts }: CallNotes) {
  let piece = '';
  let isPieceOfCall = false;
  let recordedAtMs = Number.NEGATIVE_INFINITY;
  const recordPiece = (attemptId: string): void => {
    if (piece !== '') note({ type: 'text-delta', attemptId, text: piece, ...(isPieceOfCall && { isCall: true }) });
    piece = '';
  };
  return {
    onRequest: ({ attemptId }: Call, request: ModelRequest, isEdited: boolean) =>
      note({
        type: 'prompt',
        attemptId,
        digest: requestDigest(request),
        ...prompts.partsOf(textsOf(request)),
        ...(isEdited && { edited: true }),
      }),
    onText: ({ attemptId }: Call, text: string, isCall: boolean) => {
      if (isCall !== isPieceOfCall) recordPiece(attemptId);
      isPieceOfCall = isCall;
      piece += text;
      const nowMs = clock.now();
      if (piece.length < MAX_PIECE_CHARS && nowMs - recordedAtMs < MAX_PIECE_MS) return;
      recordedAtMs = nowMs;
      recordPiece(attemptId);
    },
    onReport: ({ attemptId }: Call) => recordPiece(attemptId),
  };
}
