/** Whether there is anything to see in a text: more than spaces, controls and what has no width. */
export const says = (text: string): boolean => /[^\s\p{Cc}\p{Cf}]/u.test(text);
