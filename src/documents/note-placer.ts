/** Longer notes stay where they are, because they would fill most of a passage. */
const MAX_NOTE_CHARS = 1_000;
/** A small document can refer to one note very often, so placed notes may have as many characters as the document plus this many. */
const SPARE_CHARS = 10_000;

/** Returns a function that returns the text to replace a reference to a note with, or null if the note stays where it is. */
export function notePlacer(documentChars: number): (note: string) => string | null {
  let spare = documentChars + SPARE_CHARS;
  return (note) => {
    if (note === '' || note.length > MAX_NOTE_CHARS || note.length > spare) return null;
    spare -= note.length;
    return ` [${note}]`;
  };
}
