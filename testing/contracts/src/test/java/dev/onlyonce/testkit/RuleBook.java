package dev.onlyonce.testkit;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IfTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The source of a class of core that decides, and all its conditions: what stands between {@code &&} and {@code ||}, in front of a
 * {@code ?}, in an {@code if}, or is returned or kept as a boolean.
 */
record RuleBook(String name, String source) {

    static RuleBook of(Class<?> type) {
        String root = System.getProperty("onlyonce.root");
        Path file = Path.of(root, "core/src/main/java", type.getName().replace('.', '/') + ".java");
        try {
            return new RuleBook(type.getName(), Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Each condition true, and false; each list without its elements. */
    Stream<SourceChange> changes() {
        List<SourceChange> changes = new ArrayList<>();
        try {
            var compiler = ToolProvider.getSystemJavaCompiler();
            JavacTask task = (JavacTask) compiler.getTask(
                    null, null, null, List.of("-proc:none"), null, List.of(new SourceChange.Text(name, source)));
            for (CompilationUnitTree unit : task.parse()) {
                new Conditions(unit, Trees.instance(task).getSourcePositions(), changes).scan(unit, null);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return changes.stream();
    }

    /** The one place where this text stands, changed. */
    SourceChange change(String text, String replacement) {
        int start = source.indexOf(text);
        if (start < 0 || source.indexOf(text, start + 1) >= 0) {
            throw new IllegalStateException("not once in " + name + ": " + text);
        }
        return new SourceChange(this, start, start + text.length(), replacement);
    }

    private final class Conditions extends TreeScanner<@Nullable Void, @Nullable Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final List<SourceChange> changes;
        private boolean returnsBoolean;

        Conditions(CompilationUnitTree unit, SourcePositions positions, List<SourceChange> changes) {
            this.unit = unit;
            this.positions = positions;
            this.changes = changes;
        }

        private void change(Tree tree, String replacement) {
            int start = (int) positions.getStartPosition(unit, tree);
            int end = (int) positions.getEndPosition(unit, tree);
            changes.add(new SourceChange(RuleBook.this, start, end, replacement));
        }

        private void condition(@Nullable ExpressionTree tree) {
            if (tree instanceof ParenthesizedTree inner) {
                condition(inner.getExpression());
            } else if (tree instanceof BinaryTree both
                    && (both.getKind() == Tree.Kind.CONDITIONAL_AND || both.getKind() == Tree.Kind.CONDITIONAL_OR)) {
                condition(both.getLeftOperand());
                condition(both.getRightOperand());
            } else if (tree != null) {
                change(tree, "true");
                change(tree, "false");
            }
        }

        @Override
        public @Nullable Void visitMethod(MethodTree tree, @Nullable Void none) {
            returnsBoolean = "boolean".equals(String.valueOf(tree.getReturnType()));
            return super.visitMethod(tree, null);
        }

        @Override
        public @Nullable Void visitReturn(ReturnTree tree, @Nullable Void none) {
            if (returnsBoolean) {
                condition(tree.getExpression());
            }
            return super.visitReturn(tree, null);
        }

        @Override
        public @Nullable Void visitVariable(VariableTree tree, @Nullable Void none) {
            if ("boolean".equals(String.valueOf(tree.getType()))) {
                condition(tree.getInitializer());
            }
            return super.visitVariable(tree, null);
        }

        @Override
        public @Nullable Void visitIf(IfTree tree, @Nullable Void none) {
            condition(tree.getCondition());
            return super.visitIf(tree, null);
        }

        @Override
        public @Nullable Void visitConditionalExpression(ConditionalExpressionTree tree, @Nullable Void none) {
            condition(tree.getCondition());
            return super.visitConditionalExpression(tree, null);
        }

        @Override
        public @Nullable Void visitMethodInvocation(MethodInvocationTree tree, @Nullable Void none) {
            boolean hasElements = !tree.getArguments().isEmpty();
            if (hasElements && tree.getMethodSelect().toString().equals("List.of")) {
                change(tree, "List.of()");
            }
            return super.visitMethodInvocation(tree, null);
        }
    }
}
