/** English words that carry no content of their own: too common to tell one passage from another. Lower case, no apostrophes. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are arent as at be because been before being below between both but by
  can cannot cant could couldnt did didnt do does doesnt doing dont down during each either else etc every for from further get gets
  had has hasnt have havent having he her here hers herself him himself his how however i id if ill im in into is isnt it its itself
  ive just let lets many may me might more most much must my myself neither no nor not now of off on once one only or other our ours
  out over own per quite same shall she should shouldnt since so some such than that thats the their theirs them themselves then
  there theres these they theyre this those through thus to too under until up upon us very via was wasnt we well were werent what
  whats when whens where wheres whether which while who whom whos whose why will with within without wont would wouldnt yet you
  your youre yours yourself`.split(/\s+/),
);

/** Words that open a request without saying what it is about: stop words there, content anywhere else. */
export const ASKING_WORDS: ReadonlySet<string> = new Set(
  `please tell explain describe compare contrast briefly outline summarise summarize show list name give say define detail mean means`.split(
    /\s+/,
  ),
);

/** Words so general that a text can answer a question without them: in a question they weigh a part of what others do. */
export const GENERAL_WORDS: ReadonlySet<string> = new Set(
  `actually allow always anybody anyone anything apply available become begin big case come common consider contain deal
  different do done example exist fast fill follow general go good great handle happen help important include involve keep
  kind large late like long look lot main make need new nobody normal occur often particular perform possible put reason
  relate several similar small somebody someone something sort stand still take thing try type use useful usually various
  want way work one two three four five six seven eight nine ten`.split(/\s+/),
);
