/** Longer notes stay at their place, because they would be most of a passage. */
const MAX_NOTE_CHARS = 1_000;
/** A small document may refer to one note very often, so notes take only about as many characters as the document, plus these. */
const SPARE_CHARS = 10_000;

/** Returns a function that returns what to write in the place of a reference to a note, or null if the note stays at its place. */
export function notePlacer(documentChars: number): (note: string) => string | null {
  let spare = documentChars + SPARE_CHARS;
  return (note) => {
    if (note === '' || note.length > MAX_NOTE_CHARS || note.length > spare) return null;
    spare -= note.length;
    return ` [${note}]`;
  };
}
