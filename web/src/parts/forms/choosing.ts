/** Handles the text of a select or radio group as a member of its list. A text that is not in the list does nothing. */
export const choosing =
  <T extends string>(all: readonly T[], choose: (value: T) => void) =>
  (text: string) => {
    const value = all.find(one => one === text)
    if (value !== undefined) choose(value)
  }
