/** Texts that a spreadsheet would calculate. Includes full-width signs, which some spreadsheets read as ordinary signs. */
export const opensFormula = /^[=+\-@\t\r\n＝＋－＠]/

/** An apostrophe keeps spreadsheets from calculating a text that begins like a formula. */
export const withoutFormula = (text: string): string => (opensFormula.test(text) ? `'${text}` : text)

/** The text before `withoutFormula`. */
export const withFormula = (text: string): string =>
  text.startsWith("'") && opensFormula.test(text.slice(1)) ? text.slice(1) : text
