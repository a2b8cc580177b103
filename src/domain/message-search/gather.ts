/**
 * Gathers what is asked within one turn of the event loop into one call of `answerAll`, which answers in the order of
 * the questions. Nothing is asked before the turn is over, so that no answer is older than its question. A fuller
 * turn is split.
 */
export function gather<Question, Answer>(
  answerAll: (questions: Question[]) => Promise<Answer[]>,
  most: number,
): (question: Question) => Promise<Answer> {
  let open: { questions: Question[]; answers: Promise<Answer[]> } | undefined

  function openTurn() {
    const questions: Question[] = []
    return { questions, answers: endOfTurn().then(() => close(questions)) }
  }

  function close(questions: Question[]): Promise<Answer[]> {
    if (open?.questions === questions) open = undefined
    return answerAll(questions)
  }

  return async question => {
    if (!open || open.questions.length >= most) open = openTurn()
    const { questions, answers } = open
    const place = questions.push(question) - 1
    return (await answers)[place]!
  }
}

const endOfTurn = () => new Promise<void>(resolve => setImmediate(resolve))
