import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Folders whose tests start services, servers or browsers, and files elsewhere that take long although they are short. */
const LONG =
  /^(e2e|proof|src\/commands|src\/db\/embedded)\/|^web\/src\/words\/dates\.test|^src\/regular-expressions\.test/

/**
 * Begins with the files that take longest. In a new clone vitest knows only the sizes of files, and a short file can
 * take a minute: if it began last, one core would be idle meanwhile.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId, project }: TestSpecification) =>
      LONG.test(moduleId.slice(project.config.root.length + 1))
    return [...sorted.filter(isLong), ...sorted.filter(file => !isLong(file))]
  }
}
