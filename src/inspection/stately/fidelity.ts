/** What was noticed of a system's messages, by what it makes of the record. */
export interface Noticed {
  /** Parts were cut by the sender, or here. */
  truncated: boolean;
  /** A definition has more states or transitions than are read. */
  cut: boolean;
  inlineGuards: boolean;
  /** Messages to actors that were not announced before. */
  unannounced: number;
  malformed: number;
  /** Changes of state that no transition of the chart leads to. */
  unexplained: number;
  /** Actors that were told of when they were under way. */
  late: readonly string[];
  /** Actors that are too many. */
  uncounted: number;
  /** Machines that came when there were too many charts. */
  uncharted: number;
  full: boolean;
  /** The connection ended before the root actor did. */
  brokenOff: boolean;
}

export const nothingNoticed = (): Noticed => ({
  truncated: false,
  cut: false,
  inlineGuards: false,
  unannounced: 0,
  malformed: 0,
  unexplained: 0,
  late: [],
  uncounted: 0,
  uncharted: 0,
  full: false,
  brokenOff: false,
});

/** What the record of a system leaves out, or holds by inference only: one sentence each. */
export function fidelityOf(noticed: Noticed): readonly string[] {
  const { unannounced, malformed, unexplained, late, uncounted, uncharted } = noticed;
  const sentences: readonly (readonly [boolean | number, string])[] = [
    [true, 'Steps within an event, and actions, are not told: a transition shows where its event led in the end.'],
    [true, 'Which transition was taken, and what its guards said, is inferred from where the actor went.'],
    [true, 'Times are those at which messages were written, shortly after what they tell.'],
    [noticed.inlineGuards, 'Guards that are functions have no name but "inline" or that of the function.'],
    [noticed.truncated, 'Parts that are nested deep were cut: [Object] and [Array] stand in their places.'],
    [noticed.cut, 'A definition has more states or transitions than are read: its chart is not whole.'],
    [late.length, `Of ${late.slice(0, 3).join(', ')}${late.length > 3 ? ' and others' : ''} the beginning is missing.`],
    [
      unannounced,
      `${times(unannounced, 'message')} to actors that were not announced before: others were lost, or came late.`,
    ],
    [malformed, `${times(malformed, 'message')} could not be read.`],
    [unexplained, `${times(unexplained, 'change')} of state fit no transition of the chart.`],
    [uncounted, `${times(uncounted, 'actor')} too many: nothing of them is shown.`],
    [uncharted, `${times(uncharted, 'machine')} too many: their charts are not shown.`],
    [noticed.full, 'There were more messages than are kept: the latest are missing.'],
    [noticed.brokenOff, 'The connection ended before the program did.'],
  ];
  return sentences.filter(([holds]) => Boolean(holds)).map(([, sentence]) => sentence);
}

const times = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
