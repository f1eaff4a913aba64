package dev.onlyonce.store;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * What random generators keep in the memory of this process, to be put back: a process that is restored from a snapshot
 * starts with it again. It follows the static fields of a class, and the state of the current thread.
 */
final class HeapImage {
    private static final Set<String> FOLLOWED =
            Set.of("java.lang", "java.security", "java.util", "java.util.concurrent.atomic", "sun.security.provider");

    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Class<?>> classes = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<Restoring> values = new ArrayList<>();
    private final List<Object> open = new ArrayList<>();

    private interface Restoring {
        void restore() throws IllegalAccessException;
    }

    private HeapImage() {}

    static HeapImage of(Class<?> root) throws IllegalAccessException {
        HeapImage image = new HeapImage();
        image.statics(root);
        for (String field : List.of("threadLocalRandomSeed", "threadLocalRandomProbe")) {
            try {
                image.value(Thread.class.getDeclaredField(field), Thread.currentThread());
            } catch (NoSuchFieldException e) {
                throw new AssertionError("the JDK keeps it elsewhere", e);
            }
        }
        while (!image.open.isEmpty()) {
            image.object(image.open.remove(image.open.size() - 1));
        }
        return image;
    }

    /** How many values it has. */
    int size() {
        return values.size();
    }

    void restore() throws IllegalAccessException {
        for (Restoring value : values) {
            value.restore();
        }
    }

    private void statics(Class<?> type) throws IllegalAccessException {
        if (classes.add(type) && !type.getName().startsWith("java.lang.")) {
            fields(type, null);
        }
    }

    private void object(Object object) throws IllegalAccessException {
        if (object.getClass().isArray()) {
            array(object);
            return;
        }
        for (Class<?> type = object.getClass(); type != null && type != Object.class; type = type.getSuperclass()) {
            if (FOLLOWED.contains(type.getPackageName())) {
                fields(type, object);
                statics(type);
            }
        }
    }

    private void array(Object array) {
        int length = Array.getLength(array);
        if (array.getClass().getComponentType().isPrimitive()) {
            Object copy = Array.newInstance(array.getClass().getComponentType(), length);
            System.arraycopy(array, 0, copy, 0, length);
            values.add(() -> System.arraycopy(copy, 0, array, 0, length));
        } else {
            for (int i = 0; i < length; i++) {
                follow(Array.get(array, i));
            }
        }
    }

    private void fields(Class<?> type, Object of) throws IllegalAccessException {
        for (Field field : type.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) == (of == null)) {
                value(field, of);
            }
        }
    }

    private void value(Field field, Object of) throws IllegalAccessException {
        field.setAccessible(true);
        Object now = field.get(of);
        if (!Modifier.isFinal(field.getModifiers())) {
            values.add(() -> field.set(of, now));
        }
        if (!field.getType().isPrimitive()) {
            follow(now);
        }
    }

    private void follow(Object object) {
        boolean code = object instanceof Class || object instanceof Thread || object instanceof ClassLoader;
        if (object != null && !code && !(object instanceof String) && seen.add(object)) {
            open.add(object);
        }
    }
}
