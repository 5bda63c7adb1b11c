import com.microsoft.gctoolkit.GCToolKit;
import com.microsoft.gctoolkit.aggregator.Aggregates;
import com.microsoft.gctoolkit.aggregator.Aggregation;
import com.microsoft.gctoolkit.aggregator.Aggregator;
import com.microsoft.gctoolkit.aggregator.Collates;
import com.microsoft.gctoolkit.aggregator.EventSource;
import com.microsoft.gctoolkit.event.MemoryPoolSummary;
import com.microsoft.gctoolkit.event.generational.CMSConcurrentEvent;
import com.microsoft.gctoolkit.event.generational.GenerationalGCPauseEvent;
import com.microsoft.gctoolkit.event.jvm.JVMEvent;
import com.microsoft.gctoolkit.io.DataSource;
import com.microsoft.gctoolkit.io.RotatingGCLogFile;
import com.microsoft.gctoolkit.io.SingleGCLogFile;
import com.microsoft.gctoolkit.message.ChannelName;
import com.microsoft.gctoolkit.message.DataSourceChannel;
import com.microsoft.gctoolkit.message.DataSourceParser;
import com.microsoft.gctoolkit.message.JVMEventChannel;
import com.microsoft.gctoolkit.message.JVMEventChannelListener;
import com.tagtraum.perf.gcviewer.exp.DataWriter;
import com.tagtraum.perf.gcviewer.exp.DataWriterType;
import com.tagtraum.perf.gcviewer.exp.impl.DataWriterFactory;
import com.tagtraum.perf.gcviewer.imp.DataReaderFacade;
import com.tagtraum.perf.gcviewer.model.AbstractGCEvent;
import com.tagtraum.perf.gcviewer.model.GCEvent;
import com.tagtraum.perf.gcviewer.model.GCModel;
import com.tagtraum.perf.gcviewer.model.GCResource;
import com.tagtraum.perf.gcviewer.model.GcResourceFile;
import com.tagtraum.perf.gcviewer.model.GcResourceSeries;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Reads logs with GCViewer and GCToolKit, and prints what they parsed.
 *
 * Each line of standard input is "READER PATH", separated by a tab. READER is gcviewer, gctoolkit
 * or gctoolkit-series; gcviewer takes several paths, separated by tabs. The result is printed as
 * lines of words separated by tabs, followed by a line "end":
 *
 * <pre>
 * event  KIND STAMP SECONDS  HEAP  YOUNG  OLD     pools: before,after,total in K, or -
 * export TYPE LINE                                a line of an export of GCViewer
 * log    LEVEL MESSAGE                            a message of the reader
 * </pre>
 */
public final class Readers {
    private static final PrintStream out = new PrintStream(System.out, false);

    public static void main(String[] args) throws Exception {
        Locale.setDefault(Locale.US);
        listen("com.microsoft.gctoolkit", Level.ALL);
        listen("com.tagtraum.perf.gcviewer", Level.WARNING);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split("\t");
            try {
                switch (words[0]) {
                    case "gcviewer" -> gcviewer(words);
                    case "gctoolkit" -> gctoolkit(new SingleGCLogFile(Path.of(words[1])));
                    case "gctoolkit-series" -> gctoolkit(new RotatingGCLogFile(Path.of(words[1])));
                    default -> print("log", "SEVERE", "no such reader: " + words[0]);
                }
            } catch (Throwable e) {
                print("log", "SEVERE", e.toString());
            }
            print("end");
            out.flush();
        }
    }

    private static void print(Object... words) {
        for (int i = 0; i < words.length; i++) {
            if (i > 0) out.print('\t');
            out.print(words[i].toString().replaceAll("\\s+", " "));
        }
        out.println();
    }

    private static final List<Logger> loggers = new ArrayList<>(); // otherwise they would be collected

    private static void listen(String name, Level level) {
        listen(Logger.getLogger(name), level);
    }

    private static void listen(Logger logger, Level level) {
        logger.setLevel(level);
        logger.setUseParentHandlers(false);
        logger.addHandler(new Handler() {
            @Override public void publish(LogRecord r) {
                String message = String.valueOf(r.getMessage());
                if (r.getLevel().intValue() >= Level.INFO.intValue() || message.contains("Missed") || r.getThrown() != null) {
                    print("log", r.getLevel(), message + (r.getThrown() == null ? "" : " " + r.getThrown()));
                }
            }
            @Override public void flush() {}
            @Override public void close() {}
        });
        loggers.add(logger);
    }

    // GCViewer

    private static void gcviewer(String[] words) throws Exception {
        List<GCResource> files = new ArrayList<>();
        for (int i = 1; i < words.length; i++) files.add(new GcResourceFile(words[i]));
        GCResource resource = files.size() == 1 ? files.get(0) : new GcResourceSeries(files);
        for (GCResource r : files) listen(r.getLogger(), Level.WARNING); // it reports lines there
        if (files.size() > 1) listen(resource.getLogger(), Level.WARNING);
        GCModel model = new DataReaderFacade().loadModel(resource);
        for (Iterator<AbstractGCEvent<?>> i = model.getEvents(); i.hasNext(); ) {
            AbstractGCEvent<?> e = i.next();
            String heap = "-", young = "-", old = "-";
            if (e instanceof GCEvent g && e.hasMemoryInformation()) {
                heap = pool(g);
                young = pool(g.getYoung());
                old = pool(g.getTenured());
            }
            print("event", e.getTypeAsString(), e.getTimestamp(), e.getPause(), heap, young, old);
        }
        for (DataWriterType type : List.of(DataWriterType.SUMMARY, DataWriterType.SIMPLE, DataWriterType.PLAIN)) {
            File file = File.createTempFile("gcviewer", ".txt");
            try (DataWriter w = DataWriterFactory.getDataWriter(file, type)) {
                w.write(model);
            }
            for (String line : Files.readAllLines(file.toPath())) print("export", type, line);
            Files.delete(file.toPath());
        }
    }

    private static String pool(GCEvent e) {
        return e == null ? "-" : e.getPreUsed() + "," + e.getPostUsed() + "," + e.getTotal();
    }

    // GCToolKit

    @Collates(Everything.class)
    public abstract static class Events extends Aggregation {}

    public static class EventList extends Events {
        @Override public boolean hasWarning() { return false; }
        @Override public boolean isEmpty() { return false; }
    }

    @Aggregates({EventSource.GENERATIONAL, EventSource.JVM})
    public static class Everything extends Aggregator<Events> {
        public Everything(Events events) {
            super(events);
            register(GenerationalGCPauseEvent.class, e -> print("event", name(e), e.getDateTimeStamp().getTimeStamp(), e.getDuration(),
                    pool(e.getHeap()), pool(e.getYoung()), pool(e.getTenured())));
            register(CMSConcurrentEvent.class, e -> print("event", name(e), e.getDateTimeStamp().getTimeStamp(), e.getDuration(), "-", "-", "-"));
        }
    }

    private static String name(JVMEvent e) { return e.getClass().getSimpleName(); }

    private static String pool(MemoryPoolSummary p) {
        return p == null ? "-" : p.getOccupancyBeforeCollection() + "," + p.getOccupancyAfterCollection() + "," + p.getSizeAfterCollection();
    }

    private static void gctoolkit(DataSource<?> source) throws Exception {
        GCToolKit kit = new GCToolKit();
        kit.loadAggregation(new EventList());
        kit.loadDataSourceChannel(new Lines());
        kit.loadJVMEventChannel(new EventChannel());
        kit.analyze(source);
    }

    /** Gives each line to every parser at once. */
    private static final class Lines implements DataSourceChannel {
        private final List<DataSourceParser> parsers = new ArrayList<>();
        @Override public void registerListener(DataSourceParser p) { parsers.add(p); }
        @Override public void publish(ChannelName channel, String line) { for (DataSourceParser p : parsers) p.receive(line); }
        @Override public void close() {}
    }

    /** Gives each event to those who listen to its channel. */
    private static final class EventChannel implements JVMEventChannel {
        private final Map<ChannelName, List<JVMEventChannelListener>> listeners = new EnumMap<>(ChannelName.class);
        @Override public void registerListener(JVMEventChannelListener l) { listeners.computeIfAbsent(l.channel(), c -> new ArrayList<>()).add(l); }
        @Override public void publish(ChannelName channel, JVMEvent e) { for (JVMEventChannelListener l : listeners.getOrDefault(channel, List.of())) l.receive(e); }
        @Override public void close() {}
    }
}
