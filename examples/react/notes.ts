import type { Document } from 'postchain';

/** The documents that the page answers from. */
export const notes: readonly Document[] = [
  note('lighthouse/lamp.md', [
    'The lamp is lit half an hour before sunset, and an hour before sunset in December and January.',
    'The lamp burns 1.4 liters of oil an hour. The tank holds 40 liters.',
    'The lens is wiped every morning with a dry cloth and once a month with spirit.',
    'When the lamp fails, the keeper fires a green rocket and telephones the harbor master.',
  ]),
  note('lighthouse/fog.md', [
    'In fog the horn sounds for four seconds every minute, by day and by night.',
    'Fog is declared when the church tower across the bay cannot be seen.',
    'The horn runs on compressed air. The compressor is started ten minutes before the horn is needed.',
  ]),
  note('lighthouse/people.md', [
    'Ines Falk has kept the light since 1987. Her deputy is Tomas Reed, who comes on Thursdays.',
    'The supply boat comes on the first Monday of the month, if the sea is calm.',
    'Visitors may climb the tower on Sunday afternoons from May to September.',
  ]),
];

function note(path: string, paragraphs: readonly string[]): Document {
  return { path, text: paragraphs.join('\n\n') };
}
